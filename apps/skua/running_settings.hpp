#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

namespace skua::cli {

/// The settings of a running `skua run` that decide what `skua doctor` must examine, as its page
/// `/settings` states them. They have no passwords.
struct RunningSettings {
  struct Source {
    /// sources::Source::kind and url.
    std::string kind;
    std::string url;
  };

  /// Ends the names of its database sessions (store::process_token).
  std::string process = {};
  std::vector<Source> sources = {};
  /// full, signature or none.
  std::string verify = {};
  std::string plc = {};
  /// Absolute; empty: none.
  std::string ca_file = {};
  bool allow_unsafe_database = false;
};

/// The page.
std::string to_json(const RunningSettings& settings);

/// Nothing: the text is not such a page.
std::optional<RunningSettings> parse_running_settings(std::string_view json);

/// The settings, or why there is no answer, for people.
using RunningAnswer = boost::system::result<RunningSettings, std::string>;

/// Asks the pages at an origin such as `http://127.0.0.1:2580`, for two seconds at most.
RunningAnswer ask_running_settings(const std::string& origin, const std::string& ca_file);

}  // namespace skua::cli
