#pragma once

#include <optional>
#include <string_view>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::repo {

/// A repository's signed commit object (atproto.com/specs/repository#commit-objects). Views into
/// the block it was read from. Version 2, without rev, occurs in old CARs.
struct Commit {
  std::string_view did;
  int version = 3;
  atproto::Cid data;
  std::optional<atproto::Tid> rev;  // absent in version 2 only
  std::optional<atproto::Cid> prev;
  ByteView signature;  // 64 bytes in a valid commit; any length here
};

Result<Commit> decode_commit(ByteView block);

/// The bytes that are signed: the commit without `sig`.
Bytes unsigned_commit_bytes(const Commit& commit);

/// The whole block, `signature` included.
Bytes commit_bytes(const Commit& commit);

}  // namespace skua::repo
