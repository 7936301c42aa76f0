#pragma once

namespace skua::sim {

/// A connection, as its server sees it. Runs on the thread of the io_context and keeps itself alive
/// until it ends.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Ends the connection without a close handshake. Idempotent.
  virtual void abort() = 0;
};

}  // namespace skua::sim
