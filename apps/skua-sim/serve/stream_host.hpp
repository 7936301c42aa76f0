#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "serve/websocket_session.hpp"
#include "world/message_log.hpp"

namespace skua::sim {

struct StreamBehaviour {
  static constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

  /// The start position of a connection without a cursor, counted from 0.
  std::uint64_t live_from = 0;
  /// If true, `cursor=N` sends the message N again.
  bool inclusive = false;
  /// If true, a cursor beyond the last seq gets the error FutureCursor, as from a PDS; otherwise
  /// nothing is sent, as from indigo.
  bool future_cursor_error = false;
  /// If true, a cursor before the first kept seq gets `#info OutdatedCursor` as the first frame, as
  /// from a PDS; otherwise no such frame is sent, as from indigo.
  bool outdated_cursor_info = false;
  /// If true, the websocket is closed after the last frame; otherwise it stays open.
  bool close_at_end = false;
  /// The number of frames per second and connection; 0 for no limit.
  double rate = 0;
};

/// The progress of one subscriber.
struct StreamProgress {
  std::optional<std::int64_t> cursor;
  std::size_t sent = 0;
  std::optional<std::int64_t> last_seq;
};

/// The current state of a host's stream.
enum class StreamState : std::uint8_t {
  up,
  down,    // connections are refused (503)
  silent,  // connections are accepted, but nothing is sent
};

/// The state that the subscribers of one host share. The object must outlive them.
struct StreamHost {
  FrameSource& source;
  const StreamBehaviour behaviour;
  SessionHost sessions;
  StreamState state = StreamState::up;
  /// The open connections, by number.
  std::map<int, const StreamProgress*> open = {};
};

}  // namespace skua::sim
