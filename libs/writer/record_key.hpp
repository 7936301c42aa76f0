#pragma once

#include "event/resolved_event.hpp"
#include "store/record_key.hpp"

namespace skua::writer {

using store::RecordKey;

/// The record that an event changes.
inline RecordKey key_of(const event::ResolvedEvent& event) {
  return {event.actor_id, event.collection_id, event.rkey_number};
}

}  // namespace skua::writer
