#pragma once

#include <chrono>
#include <string>

#include "base/guarded.hpp"
#include "base/problem.hpp"
#include "transport/frame_sink.hpp"

namespace skua::sources {

/// Logs the ends of a source's connections, and knows whether it is connected. Called on the
/// client's thread; `state` and `connected` on any.
class ConnectionLog {
 public:
  struct State {
    bool connected = false;
    /// When it was connected, or when the connection ended; before the first connection: when a
    /// client began to connect.
    std::chrono::steady_clock::time_point changed_at;
    /// Why the last connection ended or failed; empty: none did.
    std::string failure = {};
    const Problem* problem = nullptr;
  };

  /// `log`: the name of the logger. `source`: the source in messages. `advice`: what a user can
  /// check when the source was never reached. `is_detail`: the messages are of level debug.
  ConnectionLog(std::string log, std::string source, std::string advice, bool is_detail = false);

  /// A client begins to connect.
  void begins();
  void on_connected();
  void on_disconnected(const transport::Disconnection& end);
  /// The client was stopped. Logs nothing.
  void ended() { set_connected(false); }
  State state() const;
  bool connected() const { return state().connected; }

 private:
  /// Returns whether it was connected.
  bool set_connected(bool connected);

  const std::string log_;
  const std::string source_;
  const std::string advice_;
  const bool is_detail_;
  int failures_ = 0;
  Guarded<State> state_;
};

}  // namespace skua::sources
