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

/// The longest frame that is read, from a stream or from a capture: the 5 MB of
/// atproto.com/specs/event-stream, read as MiB.
inline constexpr std::size_t kMaxFrameBytes = 5 * 1024 * 1024;

/// One unparsed websocket message.
struct RawFrame {
  Bytes bytes;
  /// The time when its last byte arrived.
  Timestamp received_at;
  /// True for a text message (valid UTF-8), false for a binary one.
  bool text = false;
  /// Why the message cannot be read, such as errc::message_too_large: then `bytes` are its
  /// beginning only, as long as the limit, and the client discards the rest. Otherwise no error.
  ErrorCode defect{};
};

/// How a connection ended, or why it could not be made.
struct Disconnection {
  /// For people.
  std::string reason;
  /// The delay until the next attempt.
  std::chrono::milliseconds next_attempt_in{0};
  /// The status of the HTTP answer that the server sent instead of a websocket; 0: none.
  unsigned http_status = 0;
  /// The error's name in that answer, such as `CursorTooOld` (atproto.com/specs/xrpc); empty: none.
  std::string http_error;
  /// The problem that the end shows; null: none, as when the other side closes a connection.
  const Problem* problem = nullptr;
};

/// Receives a client's frames. Implemented by the pipeline, called on the client's thread only: the
/// functions must return quickly and must not throw. Must outlive the client.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Takes the next frame, in the order of the stream. False: there is no credit, and `frame` is
  /// unchanged; the client then stops reading and calls `when_room`.
  virtual bool try_accept(RawFrame& frame) = 0;

  /// A message of a kind that is not wanted was discarded (StreamClientOptions::messages).
  virtual void on_ignored() {}

  /// Called after each accepted frame. A reason ends this connection (for example after an error
  /// frame), is passed to `on_disconnected`, and the client reconnects. Nothing: the connection
  /// continues.
  virtual std::optional<std::string> wants_end() { return std::nullopt; }

  /// Stores `wake` and calls it once when there is room again, or at once if there is room already.
  /// `wake` may be called from any thread, also within this call and after the client was
  /// destroyed.
  virtual void when_room(std::function<void()> wake) = 0;

  /// The stream begins. `connection` counts from 1; StreamClient::send needs it.
  virtual void on_connected(std::uint64_t connection) = 0;

  /// A connection ended or could not be made. Not called when `stop()` ends it.
  virtual void on_disconnected(const Disconnection& end) = 0;
};

}  // namespace skua::transport
