#pragma once

#include <optional>
#include <string>

#include "base/guarded.hpp"
#include "base/log.hpp"

namespace skua::app {

/// Why the process must stop: the first reason that any thread reports. Any thread.
class Defect {
 public:
  /// Logs every reason, keeps the first.
  void report(const std::string& what) {
    first_.with([&](auto& first) {
      if (!first) first = what;
    });
    logger("skua")->critical("{}", what);
  }

  /// Nothing while all is well.
  std::optional<std::string> get() const {
    return first_.with([](const auto& first) { return first; });
  }

 private:
  Guarded<std::optional<std::string>> first_;
};

}  // namespace skua::app
