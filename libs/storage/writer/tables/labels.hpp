#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "writer/effects.hpp"

namespace skua::writer {

/// Writes the labels in `events` to `bsky.labels`. A labeler has one row for each subject and
/// value: the newest label by cts, then by seq. Repetitions and another order therefore change
/// nothing, and a negated label stays as a row. Labels from before the deletion of a labeler, and
/// events without a label, are ignored. It is one statement in the caller's transaction, which
/// holds the locks of the labelers. Returns the number of labels without effect. Throws
/// postgres::SqlError.
std::size_t write_labels(postgres::Session& session,
                         std::span<const event::ResolvedEvent* const> events, Timestamp indexed_at,
                         Effects& effects);

/// Removes up to `limit` labels that a labeler made until `said_at`. Returns the number of removed
/// labels.
std::size_t purge_labels(postgres::Session& session, AccountNumber actor_id, Timestamp said_at,
                         std::size_t limit, Effects& effects);

}  // namespace skua::writer
