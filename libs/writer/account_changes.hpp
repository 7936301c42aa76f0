#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "store/session.hpp"
#include "writer/effects.hpp"

namespace skua::writer {

/// Stores `#identity` and `#account` events in `bsky.actors`: the handle and the hosting status.
/// The newest event wins, by the time of its host, so that a repetition changes nothing. For a
/// handle with several claimants see writer/handle_claims.hpp; an empty handle is none. The minimum
/// revision of a deleted account becomes its newest earlier revision (bounded by the time of the
/// event if that is not known), and the account is added to `skua.purges` (writer/purge.hpp). If an
/// account is active and its job (`skua.backfill_jobs`) was unavailable, the job is queued again.
/// Other events are ignored. Returns the DIDs of the accounts that were added to `skua.purges`.
std::vector<std::string> write_account_changes(store::Session& session,
                                               std::span<const event::ResolvedEvent* const> events,
                                               Timestamp now, Effects& effects);

}  // namespace skua::writer
