#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// A time during which the database server could not be reached.
struct Outage {
  /// When the first attempt to connect that failed began.
  Timestamp since;
  /// Why the latest attempt failed.
  std::string reason;
};

/// Shared knowledge of the sessions of a process about the server's availability. An outage begins
/// when an attempt to connect fails, and ends when one succeeds. A broken session does not count as
/// long as the next connection succeeds. While a caller retries, the log has a line when an outage
/// begins, every minute, and when it ends. Any thread.
class OutageMonitor {
 public:
  /// Where lines of the log go.
  struct Log {
    std::function<void(const std::string&)> warn;
    std::function<void(const std::string&)> info;
  };

  OutageMonitor(const Clock& clock, Log log);

  /// An attempt to connect that began then has failed.
  void attempt_failed(Timestamp began, const std::string& reason);
  void connected();
  /// Somebody goes on trying: this is worth a line.
  void retrying();

  std::optional<Outage> current() const;

 private:
  const Clock& clock_;
  const Log log_;
  mutable std::mutex mutex_;
  std::optional<Outage> outage_;
  /// When the log said so last; nothing: it has not yet.
  std::optional<Timestamp> logged_at_;
  bool was_connected_ = false;
};

/// The one of this process, to which all sessions report.
OutageMonitor& outage_monitor();

/// Logs that `what` failed and is tried again. If the server could not be reached that is left to
/// the outage monitor, and this line has level debug.
void log_retry(const std::string& component, std::string_view what, const SqlError& error);

}  // namespace skua::store
