#pragma once

namespace skua::sim {

/// One connection, for its server. Lives on the thread of the io_context and keeps itself alive
/// until it ends.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Ends it without a close handshake. Idempotent.
  virtual void abort() = 0;
};

}  // namespace skua::sim
