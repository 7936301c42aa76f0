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

/// The longest frame that is read, from a relay or from a capture: the 5 MB of
/// atproto.com/specs/event-stream, taken as MiB because refusing a frame means meeting it again at
/// each reconnect.
inline constexpr std::size_t kMaxFrameBytes = 5 * 1024 * 1024;

/// One binary websocket message as it came, not looked into.
struct RawFrame {
  Bytes bytes;
  /// When its last byte was here.
  Timestamp received_at;
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

  /// The stream begins. `cursor` is what was asked for; nothing: live.
  virtual void on_connected(std::optional<std::int64_t> cursor) = 0;

  /// A connection ended or could not be made, why in plain words, and when the next attempt
  /// follows. Not called for the end that `stop()` makes.
  virtual void on_disconnected(const std::string& reason,
                               std::chrono::milliseconds next_attempt_in) = 0;
};

}  // namespace skua::transport
