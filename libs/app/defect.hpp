#pragma once

#include <optional>
#include <string>

#include "base/guarded.hpp"
#include "base/log.hpp"

namespace skua::app {

/// The first fatal error that a thread reports: the reason why the process must stop. Any thread.
class Defect {
 public:
  /// Logs each error, keeps the first.
  void report(const std::string& what) {
    first_.with([&](auto& first) {
      if (!first) first = what;
    });
    logger("skua")->critical("{}", what);
  }

  /// Nothing: there is none.
  std::optional<std::string> get() const {
    return first_.with([](const auto& first) { return first; });
  }

 private:
  Guarded<std::optional<std::string>> first_;
};

}  // namespace skua::app
