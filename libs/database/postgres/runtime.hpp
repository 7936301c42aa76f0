#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/guarded.hpp"
#include "base/time.hpp"

namespace skua::postgres {

/// The clocks of a process, which outlive what uses them.
struct Clocks {
  /// This machine's clock, or the later of it and PostgreSQL's (ClockWatch). It decides which
  /// revisions and times lie in the future.
  const Clock& latest;
  /// PostgreSQL's clock, for stored times, due times and leases: several processes compare them.
  const Clock& server;
};

/// What the parts of a process share: the database, the clocks, and the place for fatal errors,
/// which no retry corrects. The owner of the parts makes it; it outlives them. Any thread.
class Runtime {
 public:
  using OnFatal = std::function<void(const std::string& what)>;

  /// `url`: of the database. `on_fatal` is called with each fatal error, on the thread where it
  /// occurred, and must not throw; null: the error is logged as critical.
  Runtime(std::string url, Clocks clocks_of_process, OnFatal on_fatal = nullptr);
  /// With one clock for both.
  Runtime(std::string url, const Clock& clock, OnFatal on_fatal = nullptr)
      : Runtime(std::move(url), Clocks{clock, clock}, std::move(on_fatal)) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Reports a fatal error. The thread that reports it ends, and the process must stop.
  void fatal(const std::string& what);
  /// The first fatal error; nothing: there is none.
  std::optional<std::string> fatal_error() const;
  /// Why a process that writes to the database must stop: a fatal error, or a database that is not
  /// the one that the process began with (DatabaseWatch). Nothing: it need not.
  std::optional<std::string> reason_to_stop() const;

  const std::string database_url;
  const Clocks clocks;

 private:
  const OnFatal on_fatal_;
  Guarded<std::optional<std::string>> first_;
};

/// For Runtime: ends the process at once. For parts without an owner that can stop in order.
[[noreturn]] void end_process(const std::string& what);

}  // namespace skua::postgres
