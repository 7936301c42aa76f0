#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::http_server {

/// A message of a stream. A websocket sends `data` only.
struct Message {
  std::string data;
  /// Server-sent events: the position for Last-Event-ID; empty: none.
  std::string id = {};
  /// Server-sent events: the type; empty: `message`.
  std::string event = {};
};

/// Why a stream ends. The client gets it: as the event `error`, or as the reason of a close frame.
struct StreamEnd {
  /// One word, such as `CursorTooOld`.
  std::string error;
  std::string message;
  /// RFC 6455, section 7.4.
  std::uint16_t websocket_code = 1008;
};

struct MessageBatch {
  std::vector<Message> messages;
  /// Set: the stream ends after the messages.
  std::optional<StreamEnd> end;
};

/// The messages for one client. The server pulls them: it asks for more when the client has taken
/// what it was sent, so nothing is queued for a slow client. Functions are called on the server's
/// thread and must not block.
class MessageSource {
 public:
  virtual ~MessageSource() = default;

  /// Called once, before all others. The source calls `wake` when `next` has something after it had
  /// nothing. Any thread may call `wake`, also after the client is gone.
  virtual void connect(std::function<void()> wake) = 0;

  /// The next messages, about `max_bytes` or one that is larger. Empty: there are none now.
  virtual MessageBatch next(std::size_t max_bytes) = 0;

  /// A message for a client that waits; nothing: none.
  virtual std::optional<Message> heartbeat() { return std::nullopt; }

  /// A text message of a websocket client. Set: the stream ends.
  virtual std::optional<StreamEnd> receive(std::string_view text);
};

}  // namespace skua::http_server
