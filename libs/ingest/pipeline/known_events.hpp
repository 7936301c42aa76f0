#pragma once

#include <cstdint>
#include <optional>

#include "event/frame_decoder.hpp"
#include "tables/cursor_store.hpp"

namespace skua::pipeline {

/// The events of a source that the tables have although they come after the saved cursor
/// (docs/adr/0021). There are such events only until the source has come to the last of them.
/// Owned by one thread.
class KnownEvents {
 public:
  /// Without cursors, no event is known.
  explicit KnownEvents(const std::optional<tables::GroupCursors>& cursors);

  /// Whether the tables have the event. Call it for each message of the source, in their order.
  bool has(const event::FramePeek& message);
  /// The sequence numbers of the source were reset, so no event is known.
  void clear() { last_ = 0; }

 private:
  tables::GroupCursors cursors_{};
  /// The last of the cursors; 0: no event is known.
  std::int64_t last_ = 0;
};

}  // namespace skua::pipeline
