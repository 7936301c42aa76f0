#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "recheck/recheck.hpp"
#include "resolve/resolver.hpp"
#include "store/session_thread.hpp"

namespace skua::recheck {

/// Checks stored rows again after lexicons have changed, on a thread and a connection of its own. A
/// pass through a large table is spread over a day, so that it does not compete with the writers.
class Rechecker {
 public:
  /// `ids` outlives it.
  Rechecker(store::Runtime& runtime, resolve::SharedIds& ids,
            std::chrono::milliseconds interval = std::chrono::seconds(10));

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  const RecheckMetrics& metrics() const { return metrics_; }

 private:
  void check(store::Session& session, const std::stop_token& stop);

  resolve::SharedIds& ids_;
  const Clock& clock_;
  const std::chrono::milliseconds interval_;
  Lexicons lexicons_;
  RecheckMetrics metrics_;
  store::SessionThread thread_;
};

}  // namespace skua::recheck
