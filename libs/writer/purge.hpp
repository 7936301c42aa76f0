#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::writer {

/// An account that was deleted, and the newest revision that it had then.
struct Purge {
  std::string did;
  std::int32_t actor_id = 0;
  atproto::Tid floor;
  /// When that was said: labels have no revision.
  Timestamp said_at = {};
};

/// Deletes all records of an account up to its minimum revision, and its labels up to its deletion,
/// from every table. It deletes a few thousand rows in a transaction, with the account's locks, for
/// which it waits. Outside a transaction. The minimum revision must be committed first: then no
/// older event is accepted, and newer rows stay in any order. Idempotent. Returns the number of
/// rows. Throws store::SqlError.
std::size_t purge_account(store::Session& session, const Purge& purge);

/// The same for an account whose host confirms a deletion that the stream reported earlier: raises
/// the minimum revision to the time of that report, or to the newest revision that is known, if
/// this is later. Nothing: the stored status of the account is not `deleted`.
std::optional<std::size_t> purge_deleted_account(store::Session& session, const std::string& did);

}  // namespace skua::writer
