#pragma once

#include <cstddef>
#include <span>

#include "event/resolved_event.hpp"
#include "store/session.hpp"

namespace skua::writer {

/// Stores what `#identity` and `#account` events say in `bsky.actors`: the handle and the hosting
/// status. The newest event wins by the time its host gave it, so that a replay changes nothing.
/// Events of other kinds among `events` are passed over. Returns how many accounts changed.
std::size_t write_account_changes(store::Session& session,
                                  std::span<const event::ResolvedEvent* const> events);

}  // namespace skua::writer
