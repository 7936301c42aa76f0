#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "event/resolved_event.hpp"
#include "store/session.hpp"

namespace skua::writer {

/// A change that may be written, as far as tombstones, floors and `bsky.records` tell. The row of a
/// typed table is compared by the table's own statement.
struct GuardedChange {
  const event::ResolvedEvent* event = nullptr;
  /// A row of the same key stands in `bsky.records`, with an older rev.
  bool has_records_row = false;
};

/// Drops the changes that are not news: those at or below their key's tombstone, their repository's
/// floor, or the row of the same key in `bsky.records`. One statement for the batch, which must
/// come after the locks, in the same transaction. `changes` holds record changes only.
std::vector<GuardedChange> drop_known(store::Session& session,
                                      std::span<const event::ResolvedEvent* const> changes);

}  // namespace skua::writer
