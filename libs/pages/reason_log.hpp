#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "pages/health.hpp"

namespace skua::pages {

/// Logs when a reason or warning appears that no other part of the program logs with its code, such
/// as the lag of a source, and when it ends: each source and consumer for itself. One thread.
class ReasonLog {
 public:
  using Write = std::function<void(const std::string&)>;

  /// `warn` and `info` receive the lines.
  ReasonLog(Write warn, Write info) : warn_(std::move(warn)), info_(std::move(info)) {}
  /// Writes the lines to the log.
  ReasonLog();

  /// Passes the current reasons. `is_complete`: reasons that are missing have ended.
  void update(const Health& health, bool is_complete = true);

 private:
  const Write warn_;
  const Write info_;
  /// A code, and the subject of the reason.
  using Key = std::pair<std::string_view, std::string>;
  std::set<Key> logged_;
};

}  // namespace skua::pages
