#pragma once

#include <span>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"

namespace skua::repo {

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
