#pragma once

#include <chrono>
#include <string>

#include "base/guarded.hpp"
#include "base/problem.hpp"
#include "transport/frame_sink.hpp"

namespace skua::sources {

/// Logs the ends of a source's connections, and knows whether the source is connected. It is called
/// on the client's thread, except for `state` and `connected`, which any thread may call.
class ConnectionLog {
 public:
  struct State {
    bool connected = false;
    /// The time at which the source was connected, or the connection ended. Before the first
    /// connection, it is the time at which a client began to connect.
    std::chrono::steady_clock::time_point changed_at;
    /// The reason why the last connection ended or failed. It is empty if none did.
    std::string failure = {};
    const Problem* problem = nullptr;
  };

  /// `log` is the name of the logger, and `source` the name of the source in messages. `advice`
  /// tells a user what to check if the source was never reached. If `is_detail` is true, the
  /// messages have the level debug.
  ConnectionLog(std::string log, std::string source, std::string advice, bool is_detail = false);

  /// Reports that a client begins to connect.
  void begins();
  void on_connected();
  void on_disconnected(const transport::Disconnection& end);
  /// Reports that the client was stopped. It logs nothing.
  void ended() { set_connected(false); }
  State state() const;
  bool connected() const { return state().connected; }

 private:
  /// Returns whether the source was connected before the call.
  bool set_connected(bool connected);

  const std::string log_;
  const std::string source_;
  const std::string advice_;
  const bool is_detail_;
  int failures_ = 0;
  Guarded<State> state_;
};

}  // namespace skua::sources
