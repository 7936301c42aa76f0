#pragma once

#include <string>

#include "atproto/data_model.hpp"
#include "base/time.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

/// Writes events in the shape of Jetstream v1 (github.com/bluesky-social/jetstream): one JSON
/// object. Holds scratch memory: one a thread.
class JetstreamWriter {
 public:
  /// Appends the event without an end of line. `time` is its frame's: `time_us` in microseconds.
  /// False: a Rejection, for which Jetstream has no shape; nothing is appended.
  bool append(std::string& out, const UnresolvedEvent& event, Timestamp time);

 private:
  atproto::Document record_;
};

}  // namespace skua::event
