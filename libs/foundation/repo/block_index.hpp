#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::repo {

/// The positions of the blocks of a CAR by digest. It corresponds to BlockMap for frames and needs
/// a third of its memory (16 bytes a block and 1 to 2 % of the CAR; twice as much while it is
/// built). It views the CAR, which must outlive it. If a block is in the CAR more than once, it
/// finds any of them. Immutable: many threads may read it.
///
/// Digests are distinguished by their first bits, and if these are equal, by the whole digest in
/// the CAR. Blocks with equal first bits make each look-up a few steps longer: the logarithm of
/// their number.
class BlockIndex {
 public:
  /// The marker for a missing block.
  static constexpr std::size_t kMissing = std::numeric_limits<std::size_t>::max();

  /// Number of repeated blocks that are always allowed; beyond it one block in 64 may be repeated.
  /// A writer that walks the tree repeats equal records.
  static constexpr std::size_t kDuplicatesAllowed = 1'000;

  /// Reads the whole CAR and compares each block's SHA-256 with its CID. Errors: those of
  /// `load_car`, and car_duplicates, as soon as most of them are known for it. `key_bits`, 64 at
  /// most: how many bits of a digest are looked at before the CAR is; tests take fewer.
  static Result<BlockIndex> build(ByteView car, unsigned key_bits = 64);

  /// Where in the CAR the section of a block begins, see `car_block_at`; or kMissing.
  std::size_t find(const atproto::Digest& digest) const;

  /// The same for many digests, several times as fast: their ways through memory, which take most
  /// of the time, overlap. `sections` is as long as `digests`; some hundred at once are best.
  void find(std::span<const atproto::Digest> digests, std::span<std::size_t> sections) const;

  /// Blocks, duplicates counted.
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t key;
    std::uint64_t section;
  };

  explicit BlockIndex(ByteView car) : car_(car) {}

  bool has_too_many(std::size_t duplicates) const {
    return duplicates > kDuplicatesAllowed + entries_.size() / 64;
  }
  void sort();
  /// Once sorted.
  std::size_t duplicates() const;
  void divide();
  std::uint64_t key_of(const atproto::Digest& digest) const;
  std::size_t bucket_of(std::uint64_t key) const {
    return bucket_shift_ == 64 ? 0 : key >> bucket_shift_;
  }
  /// The first entry whose key is not below this one, or the end of the key's bucket.
  std::size_t first_of(std::uint64_t key) const;
  /// Of the entries from `first` on that share the digest's key, the section of the one that has
  /// the whole digest.
  std::size_t match(std::size_t first, const atproto::Digest& digest) const;
  atproto::Digest digest_of(const Entry& entry) const;

  ByteView car_;
  std::uint64_t key_mask_ = 0;
  /// Sorted by key, then by digest.
  std::vector<Entry> entries_;
  /// Keys whose first bits agree are a bucket; where each begins, and the end of the last.
  std::vector<std::size_t> buckets_;
  unsigned bucket_shift_ = 64;
};

}  // namespace skua::repo
