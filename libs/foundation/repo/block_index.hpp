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

/// The positions of a CAR's blocks by digest. BlockMap is the equivalent for frames. A BlockIndex
/// needs a third of BlockMap's memory (16 bytes a block and 1 to 2 % of the CAR; twice as much
/// during its construction). The index views the CAR, which must outlive the index. If the CAR has
/// a block more than once, the index finds any of its positions. Immutable: many threads may read
/// it.
///
/// The index compares the first bits of digests, and if these are equal, the whole digest in the
/// CAR. Blocks with equal first bits make each look-up a few steps longer: the logarithm of their
/// number.
class BlockIndex {
 public:
  /// The marker for a missing block.
  static constexpr std::size_t kMissing = std::numeric_limits<std::size_t>::max();

  /// The number of repeated blocks that are always allowed. Beyond it one block in 64 may be
  /// repeated. A writer that walks the tree repeats equal records.
  static constexpr std::size_t kDuplicatesAllowed = 1'000;

  /// Reads the whole CAR and compares each block's SHA-256 with its CID. Errors: those of
  /// `load_car`, and car_duplicates as soon as most of the repeated blocks that prove it are known.
  /// `key_bits` is the number of a digest's first bits that are compared before the CAR is read; 64
  /// at most. Tests use fewer bits.
  static Result<BlockIndex> build(ByteView car, unsigned key_bits = 64);

  /// Returns the position in the CAR of the section of a block, see `car_block_at`, or kMissing.
  std::size_t find(const atproto::Digest& digest) const;

  /// Finds many digests several times as fast as single calls, because their memory accesses, which
  /// take most of the time, overlap. `sections` is as long as `digests`. Some hundred digests in a
  /// call are best.
  void find(std::span<const atproto::Digest> digests, std::span<std::size_t> sections) const;

  /// The number of blocks, including duplicates.
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
  /// Requires sorted entries.
  std::size_t duplicates() const;
  void divide();
  std::uint64_t key_of(const atproto::Digest& digest) const;
  std::size_t bucket_of(std::uint64_t key) const {
    return bucket_shift_ == 64 ? 0 : key >> bucket_shift_;
  }
  /// Returns the first entry whose key is not less than `key`, or the end of the key's bucket.
  std::size_t first_of(std::uint64_t key) const;
  /// Compares the whole digest with each entry from `first` on that has the digest's key. Returns
  /// the section of the entry that matches.
  std::size_t match(std::size_t first, const atproto::Digest& digest) const;
  atproto::Digest digest_of(const Entry& entry) const;

  ByteView car_;
  std::uint64_t key_mask_ = 0;
  /// The entries are sorted by key, then by digest.
  std::vector<Entry> entries_;
  /// Entries whose keys have the same first bits form a bucket. Contains the beginning of each
  /// bucket, and the end of the last.
  std::vector<std::size_t> buckets_;
  unsigned bucket_shift_ = 64;
};

}  // namespace skua::repo
