#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "websocket_session.hpp"
#include "world/frame_source.hpp"

namespace skua::sim {

struct StreamBehaviour {
  static constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

  /// Where a connection without a cursor begins, counted from 0: what stands before is history.
  std::uint64_t live_from = 0;
  /// `cursor=N` sends N again.
  bool inclusive = false;
  /// A cursor beyond the last seq gets the FutureCursor error of a PDS; else silence, as from
  /// indigo.
  bool future_cursor_error = false;
  /// A cursor before the first seq kept gets `#info OutdatedCursor` as a first frame, as from a
  /// PDS; else nothing, as from indigo.
  bool outdated_cursor_info = false;
  /// After the last frame the websocket is closed; else it stays open.
  bool close_at_end = false;
  /// Frames a second and connection; 0: as fast as the client takes them.
  double rate = 0;
};

/// How far one subscriber is.
struct StreamProgress {
  std::optional<std::int64_t> cursor;
  std::size_t sent = 0;
  std::optional<std::int64_t> last_seq;
};

/// What a host does to its subscribers at this moment.
enum class StreamState : std::uint8_t {
  up,
  down,    // nobody is let in (503)
  silent,  // whoever is in, or comes in, hears nothing
};

/// What the subscribers of one host share. Must outlive them.
struct StreamHost {
  FrameSource& source;
  const StreamBehaviour behaviour;
  SessionHost sessions;
  StreamState state = StreamState::up;
  /// Connections that are open, by number.
  std::map<int, const StreamProgress*> open = {};
};

}  // namespace skua::sim
