#pragma once

#include <optional>
#include <string>
#include <vector>

#include "filter/filter_watch.hpp"
#include "settings.hpp"
#include "verification.hpp"

namespace skua::cli {

/// The filter options of `skua run` and `skua filter`.
struct FilterFlags {
  std::vector<std::string> collections = {};
  /// Accounts, in any form.
  std::vector<std::string> dids = {};
  /// Lists of accounts: AT-URIs or bsky.app URLs.
  std::vector<std::string> lists = {};
  std::optional<std::string> file = std::nullopt;
  /// The flag that named the file.
  std::string file_flag = "--filter-file";
};

/// The filter on the command line, without the file; nothing: neither names nor a file. Handles are
/// looked up after everything else was checked. Throws UsageError for a name that is neither a
/// collection nor an account, and for a file that is not a filter; std::runtime_error for a handle
/// that does not resolve.
std::optional<filter::FilterChoice> filter_choice(const Settings& settings,
                                                  const FilterFlags& flags,
                                                  const VerificationFlags& verification);

}  // namespace skua::cli
