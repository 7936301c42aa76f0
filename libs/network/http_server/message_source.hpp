#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::http_server {

/// A message of a stream. A websocket sends only `data`.
struct Message {
  std::string data;
  /// The position for Last-Event-ID in server-sent events. Empty if the message has no position.
  std::string id = {};
  /// The type in server-sent events. Empty for the type `message`.
  std::string event = {};
};

/// The reason why a stream ends. The client gets the reason as the event `error`, or in a close
/// frame.
struct StreamEnd {
  /// One word, such as `CursorTooOld`.
  std::string error;
  std::string message;
  /// The code of a close frame (RFC 6455, section 7.4).
  std::uint16_t websocket_code = 1008;
};

struct MessageBatch {
  std::vector<Message> messages;
  /// If set, the stream ends after the messages.
  std::optional<StreamEnd> end;
};

/// The messages for one client. The server pulls them: it asks for more messages when the client
/// has taken the previous ones, so nothing is queued for a slow client. The server calls all
/// functions on its thread, and they must not block.
class MessageSource {
 public:
  virtual ~MessageSource() = default;

  /// Called once, before all other functions. When `next` returned nothing and a message has come
  /// since, the source calls `wake`. Any thread may call `wake`, also after the client is gone.
  virtual void connect(std::function<void()> wake) = 0;

  /// Returns the next messages, of about `max_bytes` or one larger message. The batch is empty if
  /// there are none now.
  virtual MessageBatch next(std::size_t max_bytes) = 0;

  /// Returns a message for a client that waits, or nothing if the stream has no heartbeat.
  virtual std::optional<Message> heartbeat() { return std::nullopt; }

  /// Receives a text message of a websocket client. If the function returns an end, the stream
  /// ends.
  virtual std::optional<StreamEnd> receive(std::string_view text);
};

}  // namespace skua::http_server
