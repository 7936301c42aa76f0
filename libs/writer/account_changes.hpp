#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "store/session.hpp"
#include "writer/effects.hpp"
#include "writer/purge.hpp"

namespace skua::writer {

/// Stores `#identity` and `#account` events in `bsky.actors`: the handle and the hosting status.
/// The newest event wins, by the time of its host, so that a repetition changes nothing. For a
/// handle with several claimants see writer/handle_claims.hpp; an empty handle is none. The minimum
/// revision of a deleted account becomes its newest earlier revision (bounded by the time of the
/// event if that is not known). If an account is active and its job (`skua.backfill_jobs`) was
/// unavailable, the job is queued again. Other events are ignored. Returns the deleted accounts:
/// once this transaction is committed, `purge_account` removes their records.
std::vector<Purge> write_account_changes(store::Session& session,
                                         std::span<const event::ResolvedEvent* const> events,
                                         Timestamp now, Effects& effects);

}  // namespace skua::writer
