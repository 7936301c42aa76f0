#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "postgres/session.hpp"

namespace skua::consumers {

/// The event of a change, as a webhook or a pull consumer gets it. The dead letter of the change
/// keeps it for people, and for a replay after the log has dropped the change.
struct LetterEvent {
  /// JSON in the form of `/changes`; empty if the log does not have the change.
  std::string event;
  /// The event without its record, which a letter keeps if the event is too large. Empty if the
  /// event has no record.
  std::string keys;
};

/// Reads the event of the change at a position. Null if letters get no event. `read_letter_event`
/// of `libs/feeds/streams` is such a function: the form of events belongs to that library. Throws
/// postgres::SqlError.
using ReadLetterEvent = std::function<LetterEvent(postgres::Session&, std::int64_t position)>;

}  // namespace skua::consumers
