#pragma once

#include <optional>
#include <string_view>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::repo {

/// A repository's signed commit object (atproto.com/specs/repository#commit-objects), as views into
/// the block from which it was read. Old CARs contain version 2, which has no rev.
struct Commit {
  std::string_view did;
  int version = 3;
  atproto::Cid data;
  std::optional<atproto::Tid> rev;  // absent in version 2 only
  std::optional<atproto::Cid> prev;
  ByteView signature;  // has 64 bytes in a valid commit; the length is not checked here
};

Result<Commit> decode_commit(ByteView block);

/// Returns the bytes that are signed, which are the commit without `sig`.
Bytes unsigned_commit_bytes(const Commit& commit);

/// Returns the whole block, including `signature`.
Bytes commit_bytes(const Commit& commit);

}  // namespace skua::repo
