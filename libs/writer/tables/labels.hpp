#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "store/session.hpp"

namespace skua::writer {

/// What `write_labels` did.
struct LabelsWritten {
  std::size_t rows = 0;
  /// Held back by the guard.
  std::size_t unchanged = 0;
};

/// Writes the labels among `events` to `bsky.labels`, where each labeler has one word on a subject
/// and value: the newest by cts, of equal ones by seq. So what comes twice, or in another order,
/// changes nothing; for the same reason a withdrawn label stays, as a row. Of a labeler that was
/// deleted nothing is taken that it said before. Events of other kinds are passed over. One
/// statement in the caller's transaction; throws store::SqlError.
LabelsWritten write_labels(store::Session& session,
                           std::span<const event::ResolvedEvent* const> events,
                           Timestamp indexed_at);

/// Removes up to `limit` labels that a labeler made until `said_at`. Returns how many.
std::size_t purge_labels(store::Session& session, std::int32_t actor_id, Timestamp said_at,
                         std::size_t limit);

}  // namespace skua::writer
