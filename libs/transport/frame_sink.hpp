#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace skua::transport {

/// The longest frame that is read, from a stream or from a capture: the 5 MB of
/// atproto.com/specs/event-stream, taken as MiB because refusing a frame means meeting it again at
/// each reconnect.
inline constexpr std::size_t kMaxFrameBytes = 5 * 1024 * 1024;

/// One websocket message as it came, not looked into.
struct RawFrame {
  Bytes bytes;
  /// When its last byte was here.
  Timestamp received_at;
  /// It came as text (valid UTF-8), not as binary.
  bool text = false;
};

/// How a connection ended, or why it could not be made.
struct Disconnection {
  /// In plain words.
  std::string reason;
  /// When the next attempt follows.
  std::chrono::milliseconds next_attempt_in{0};
  /// The status of the HTTP answer that came instead of a websocket; 0: none came.
  unsigned http_status = 0;
  /// The error's name in that answer, such as `CursorTooOld` (atproto.com/specs/xrpc); empty: none.
  std::string http_error;
};

/// Where a client's frames go. Implemented by the pipeline, called on the client's thread only: the
/// functions must return quickly and must not throw. Must outlive the client.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Takes the next frame, in the order of the stream. False: no credit now, `frame` is untouched;
  /// the client then reads nothing more and calls `when_room`.
  virtual bool try_accept(RawFrame& frame) = 0;

  /// Asked after each frame that was taken: why this connection must end (an error frame came,
  /// say), in the words that `on_disconnected` then gets; nothing: go on. The client connects anew.
  virtual std::optional<std::string> wants_end() { return std::nullopt; }

  /// Keep `wake` and call it once when there is room again, at once if there is room already.
  /// `wake` may be called from any thread, also within this call and also when the client is gone.
  virtual void when_room(std::function<void()> wake) = 0;

  /// The stream begins. `connection` counts from 1; StreamClient::send wants it.
  virtual void on_connected(std::uint64_t connection) = 0;

  /// A connection ended or could not be made. Not called for the end that `stop()` makes.
  virtual void on_disconnected(const Disconnection& end) = 0;
};

}  // namespace skua::transport
