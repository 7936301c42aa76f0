#pragma once

#include <string>

#include "atproto/data_model.hpp"
#include "base/time.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

/// Writes events in the format of Jetstream v1 (github.com/bluesky-social/jetstream): one JSON
/// object. Contains scratch memory: use one for each thread.
class JetstreamWriter {
 public:
  /// Appends the event without an end of line. `time` is the time of its frame; `time_us` has
  /// microseconds. False: the event is a Rejection, which Jetstream cannot represent; nothing is
  /// appended.
  bool append(std::string& out, const UnresolvedEvent& event, Timestamp time);

 private:
  atproto::Document record_;
};

}  // namespace skua::event
