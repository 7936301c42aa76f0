#pragma once

namespace skua::sim {

/// One connection, as its server knows it. Lives on the thread of the io_context and keeps itself
/// alive until it ends.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Ends it without a word. More than once is harmless.
  virtual void abort() = 0;
};

}  // namespace skua::sim
