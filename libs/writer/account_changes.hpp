#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "store/session.hpp"
#include "writer/purge.hpp"

namespace skua::writer {

/// What `write_account_changes` did.
struct AccountsWritten {
  std::size_t accounts = 0;
  /// Deleted accounts: their floor is set, and once that is committed their records are to go.
  std::vector<Purge> purges;
};

/// Stores `#identity` and `#account` events in `bsky.actors`: the handle and the hosting status.
/// The newest event wins, by the time of its host, so that a repetition changes nothing. For a
/// handle with several claimants see writer/handle_claims.hpp; an empty handle is none. The minimum
/// revision of a deleted account becomes its newest earlier revision (bounded by the time of the
/// event if that is not known). If an account is active and its job (`skua.backfill_jobs`) was
/// unavailable, the job is queued again. Other events are ignored.
AccountsWritten write_account_changes(store::Session& session,
                                      std::span<const event::ResolvedEvent* const> events,
                                      Timestamp now);

}  // namespace skua::writer
