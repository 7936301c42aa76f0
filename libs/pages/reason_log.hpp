#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "pages/health.hpp"

namespace skua::pages {

/// Logs when a reason appears that no other part of the program logs, and when it ends: the lag of
/// a source, and collections without events. One thread.
class ReasonLog {
 public:
  using Write = std::function<void(const std::string&)>;

  /// Receive the lines.
  ReasonLog(Write warn, Write info) : warn_(std::move(warn)), info_(std::move(info)) {}
  /// To the log.
  ReasonLog();

  /// The current reasons.
  void update(const Health& health);

 private:
  const Write warn_;
  const Write info_;
  std::set<std::string_view> logged_;
};

}  // namespace skua::pages
