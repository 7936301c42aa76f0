#pragma once

#include <optional>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::repo {

struct CarBlock {
  atproto::Cid cid;
  ByteView data;  // into the CAR
};

/// Walks a CAR v1 (ipld.io/specs/transport/car/carv1) from front to back without copying. The
/// buffer must outlive the reader and the blocks.
class CarReader {
 public:
  /// Reads the header. Error: not CAR v1, roots that are no CIDs, a length beyond the buffer.
  static Result<CarReader> open(ByteView car);

  const std::vector<atproto::Cid>& roots() const { return roots_; }

  /// The next block, nothing at the end. Blocks with a CID of another codec or hash are skipped,
  /// because nothing in a repository can refer to them. Does not hash: see `load_car`. Error: a
  /// section that is no block.
  Result<std::optional<CarBlock>> next();

  /// How many bytes are left to read.
  std::size_t left() const { return rest_.size(); }

 private:
  CarReader(ByteView rest, std::vector<atproto::Cid> roots)
      : rest_(rest), roots_(std::move(roots)) {}
  ByteView rest_;
  std::vector<atproto::Cid> roots_;
};

/// The place in a CAR at which the section of this block begins. The block is one that a CarReader
/// of this CAR returned.
std::size_t section_of(ByteView car, const CarBlock& block);

/// The block whose section begins at this place of a CAR. Nothing is checked: a CarReader has met
/// it there before.
CarBlock car_block_at(ByteView car, std::size_t section);

struct DigestHash {
  using is_avalanching = void;
  std::size_t operator()(const atproto::Digest& digest) const;
};

/// Blocks by digest. Views into the CAR.
using BlockMap = boost::unordered_flat_map<atproto::Digest, ByteView, DigestHash>;

struct LoadedCar {
  std::vector<atproto::Cid> roots;
  BlockMap blocks;
  std::size_t duplicates = 0;
};

/// Reads a whole CAR and compares each block's SHA-256 with its CID. Duplicates are tolerated and
/// counted. Error: see CarReader, or a block that is not what its CID says. `out` is reused.
Result<void> load_car(ByteView car, LoadedCar& out);

/// Appends a CAR v1 (ipld.io/specs/transport/car/carv1) to a buffer: the header, then block by
/// block. Nothing is checked or deduplicated: tests write wrong CARs with it too.
class CarWriter {
 public:
  /// Writes the header. `out` must outlive the writer.
  CarWriter(Bytes& out, std::span<const atproto::Cid> roots);

  /// Appends a block under a CID that the caller has computed.
  void block(const atproto::Cid& cid, ByteView data);
  /// Appends a block and returns its CID.
  atproto::Cid block(ByteView data);

 private:
  Bytes& out_;
};

}  // namespace skua::repo
