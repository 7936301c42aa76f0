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
  /// Reads the header. Returns an error if the bytes are not CAR v1, a root is not a CID, or a
  /// length exceeds the buffer.
  static Result<CarReader> open(ByteView car);

  const std::vector<atproto::Cid>& roots() const { return roots_; }

  /// Returns the next block, or nothing at the end. Skips blocks with a CID of another codec or
  /// hash, because nothing in a repository can refer to them. Does not hash the block; `load_car`
  /// does. Returns an error for a section that is not a block.
  Result<std::optional<CarBlock>> next();

  /// The number of bytes that are left to read.
  std::size_t left() const { return rest_.size(); }

 private:
  CarReader(ByteView rest, std::vector<atproto::Cid> roots)
      : rest_(rest), roots_(std::move(roots)) {}
  ByteView rest_;
  std::vector<atproto::Cid> roots_;
};

/// Returns the position in a CAR of the section of a block. A CarReader of this CAR must have
/// returned the block.
std::size_t section_of(ByteView car, const CarBlock& block);

/// Returns the block whose section begins at this position of a CAR. Nothing is checked, because a
/// CarReader has read the section before.
CarBlock car_block_at(ByteView car, std::size_t section);

struct DigestHash {
  using is_avalanching = void;
  std::size_t operator()(const atproto::Digest& digest) const;
};

/// The blocks by digest, as views into the CAR.
using BlockMap = boost::unordered_flat_map<atproto::Digest, ByteView, DigestHash>;

struct LoadedCar {
  std::vector<atproto::Cid> roots;
  BlockMap blocks;
  std::size_t duplicates = 0;
};

/// Reads a whole CAR and compares each block's SHA-256 with its CID. Duplicates are tolerated and
/// counted. Errors: those of CarReader, and a block that does not match its CID. `out` is reused.
Result<void> load_car(ByteView car, LoadedCar& out);

/// Appends a CAR v1 (ipld.io/specs/transport/car/carv1) to a buffer: the header, then block by
/// block. Checks nothing and keeps duplicates, because tests also write malformed CARs.
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
