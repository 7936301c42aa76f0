#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "atproto/cid.hpp"
#include "base/account_number.hpp"

namespace skua::records {

/// Another account that a record names. `id` is 0 until it is resolved to `bsky.actors.id`.
struct ActorRef {
  std::string_view did;
  AccountNumber id = 0;
};

/// Another record that a record names. The views point into the record's block. The decoder fills
/// it only when the URI names a record by DID; anything else is kept in the record's `extra`
/// instead.
struct RecordRef {
  std::string_view did;
  std::string_view collection;
  std::string_view rkey;
  /// Of a strongRef; absent where the lexicon has a plain URI.
  std::optional<atproto::Cid> cid;

  /// Filled by resolving; 0 before.
  AccountNumber actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey_number = 0;
};

}  // namespace skua::records
