#pragma once

#include <cstddef>
#include <cstdint>
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

/// Removes all records of an account up to its floor, and what it said as a labeler up to its
/// deletion, from every table, a few thousand rows at a time, each in a transaction of its own with
/// the account's locks, for which it waits: no row moves while it is removed. Outside of a
/// transaction. The floor must be committed before: then nothing at or below it comes any more, and
/// what comes is above it and stays, whatever the order. Again is harmless. Returns the number of
/// rows. Throws store::SqlError.
std::size_t purge_account(store::Session& session, const Purge& purge);

}  // namespace skua::writer
