#pragma once

#include <atomic>
#include <string>

#include "transport/frame_sink.hpp"

namespace skua::sources {

/// Logs the ends of a source's connections, and knows whether it is connected. Called on the
/// client's thread; `connected` on any.
class ConnectionLog {
 public:
  /// `log`: the name of the logger. `source`: the source in messages. `advice`: what a user can
  /// check when the source was never reached.
  ConnectionLog(std::string log, std::string source, std::string advice);

  void on_connected();
  void on_disconnected(const transport::Disconnection& end);
  /// The client was stopped. Logs nothing.
  void ended() { connected_ = false; }
  bool connected() const { return connected_; }

 private:
  const std::string log_;
  const std::string source_;
  const std::string advice_;
  int failures_ = 0;
  std::atomic<bool> connected_{false};
};

}  // namespace skua::sources
