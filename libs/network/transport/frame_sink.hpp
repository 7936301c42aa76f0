#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/problem.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace skua::transport {

/// The longest frame that is read from a stream or a capture: the 5 MB of
/// atproto.com/specs/event-stream, as MiB.
inline constexpr std::size_t kMaxFrameBytes = 5 * 1024 * 1024;

/// One unparsed websocket message.
struct RawFrame {
  Bytes bytes;
  /// The time when the last byte of the message arrived.
  Timestamp received_at;
  /// True for a text message (valid UTF-8), false for a binary message.
  bool text = false;
  /// The reason why the message cannot be read, such as errc::message_too_large. `bytes` then has
  /// only the beginning of the message, up to the limit, and the client discards the rest. Without
  /// a reason, the message is complete.
  ErrorCode defect{};
};

/// The end of a connection, or of an attempt to connect.
struct Disconnection {
  /// The reason for people.
  std::string reason;
  /// The delay until the next attempt.
  std::chrono::milliseconds next_attempt_in{0};
  /// The status of the HTTP answer that the server sent instead of a websocket, or 0 without such
  /// an answer.
  unsigned http_status = 0;
  /// The error's name in that answer, such as `CursorTooOld` (atproto.com/specs/xrpc). Empty if the
  /// answer has no name.
  std::string http_error;
  /// The problem that the end shows. Null if the end shows none, for example if the other side
  /// closed the connection.
  const Problem* problem = nullptr;
};

/// Receives a client's frames. The pipeline implements this interface, and only the client's thread
/// calls it. The functions must return quickly and must not throw. A sink must outlive its client.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Takes the next frame, in the order of the stream. Returns false without changing `frame` if
  /// there is no credit. The client then stops reading and calls `when_room`.
  virtual bool try_accept(RawFrame& frame) = 0;

  /// A message of an unwanted kind was discarded (StreamClientOptions::messages).
  virtual void on_ignored() {}

  /// Called after each accepted frame. If the function returns a reason (for example after an error
  /// frame), the connection ends, `on_disconnected` gets the reason, and the client reconnects.
  /// Otherwise the connection continues.
  virtual std::optional<std::string> wants_end() { return std::nullopt; }

  /// Stores `wake` and calls it once when there is room again, or at once if there is room already.
  /// Any thread may call `wake`, also within this call and after the client was destroyed.
  virtual void when_room(std::function<void()> wake) = 0;

  /// The stream begins. `connection` counts from 1; StreamClient::send needs it.
  virtual void on_connected(std::uint64_t connection) = 0;

  /// A connection ended, or an attempt to connect failed. Not called when `stop()` ends a
  /// connection.
  virtual void on_disconnected(const Disconnection& end) = 0;
};

}  // namespace skua::transport
