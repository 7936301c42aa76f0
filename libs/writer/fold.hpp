#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "event/resolved_event.hpp"

namespace skua::writer {

/// The effect of a batch. Indices into it, in its order.
struct Folded {
  /// The events that still have an effect on rows: of several changes of one record (actor,
  /// collection, rkey) only the one with the newest rev, the later one where revs are equal;
  /// everything else.
  std::vector<std::size_t> survivors;
  /// For each record with a later write that survives: its newest delete. It changes no row but
  /// leaves its tombstone, as it would in a batch of its own: the database must not depend on the
  /// boundaries of batches.
  std::vector<std::size_t> overtaken_deletes;
};

/// Needs resolved ids.
Folded fold_batch(std::span<const event::ResolvedEvent* const> batch);

}  // namespace skua::writer
