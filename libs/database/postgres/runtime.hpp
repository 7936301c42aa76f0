#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/guarded.hpp"
#include "base/time.hpp"

namespace skua::postgres {

/// The clocks of a process. They outlive all objects that use them.
struct Clocks {
  /// The later of this machine's clock and PostgreSQL's (ClockWatch), or this machine's clock
  /// alone. It decides which revisions and times lie in the future.
  const Clock& latest;
  /// PostgreSQL's clock, for stored times, due times and leases, because several processes compare
  /// them.
  const Clock& server;
};

/// The state that the parts of a process share: the database, the clocks, and the place for fatal
/// errors, which no retry corrects. The owner of the parts makes the Runtime, which outlives them.
/// Any thread.
class Runtime {
 public:
  using OnFatal = std::function<void(const std::string& what)>;

  /// `url` is the address of the database. `on_fatal` is called with each fatal error, on the
  /// thread where the error occurred, and must not throw. If it is null, the error is logged as
  /// critical.
  Runtime(std::string url, Clocks clocks_of_process, OnFatal on_fatal = nullptr);
  /// Uses one clock for both members of Clocks.
  Runtime(std::string url, const Clock& clock, OnFatal on_fatal = nullptr)
      : Runtime(std::move(url), Clocks{clock, clock}, std::move(on_fatal)) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Reports a fatal error. The thread that reports the error ends, and the process must stop.
  void fatal(const std::string& what);
  /// Returns the first fatal error, or nothing if there is none.
  std::optional<std::string> fatal_error() const;
  /// Returns the reason why a process that writes to the database must stop: a fatal error, or a
  /// database other than the one at the start of the process (DatabaseWatch). Returns nothing if
  /// there is no reason.
  std::optional<std::string> reason_to_stop() const;

  const std::string database_url;
  const Clocks clocks;

 private:
  const OnFatal on_fatal_;
  Guarded<std::optional<std::string>> first_;
};

/// Ends the process at once. For the Runtime of parts without an owner that can stop in order.
[[noreturn]] void end_process(const std::string& what);

}  // namespace skua::postgres
