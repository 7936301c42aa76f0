#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "settings.hpp"

namespace skua::cli {

struct TopFlags {
  std::optional<std::string> http;
  std::optional<std::string> ca_file;
  std::optional<std::string> every;
  bool once = false;
};

/// `skua top`.
int top(const Settings& settings, const TopFlags& flags);

/// What `skua top` reads.
struct TopTarget {
  /// The URL of the pages, without a slash at the end.
  std::string origin;
  std::string ca_file;
  std::chrono::seconds every{2};
};

/// Draws until the user quits.
int show_screen(const TopTarget& target);
/// Prints a report.
int print_report(const TopTarget& target);

}  // namespace skua::cli
