#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "event/resolved_event.hpp"

namespace skua::writer {

/// The events of a batch that still have an effect: of several changes of one record (actor,
/// collection, rkey) only the one with the newest rev, the later one where revs are equal;
/// everything else. Indices into `batch`, in its order. Needs resolved ids.
std::vector<std::size_t> fold_batch(std::span<const event::ResolvedEvent> batch);

}  // namespace skua::writer
