#pragma once

#include <atomic>
#include <string>

#include "transport/frame_sink.hpp"

namespace skua::sources {

/// Whether a source is connected, and what the log says of it when it no longer is. Called on its
/// client's thread; `connected` on any.
class ConnectionLog {
 public:
  /// `log` is the logger's name, `source` the source's in messages, `advice` what to look at when
  /// it was never reached.
  ConnectionLog(std::string log, std::string source, std::string advice);

  void on_connected();
  void on_disconnected(const transport::Disconnection& end);
  /// The client was stopped: no connection any more, and nothing to say about it.
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
