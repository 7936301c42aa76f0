#pragma once

#include <optional>
#include <string>
#include <vector>

#include "filter/filter_watch.hpp"
#include "settings.hpp"
#include "verification.hpp"

namespace skua::cli {

/// What `skua run` and `skua filter` were given of a filter.
struct FilterFlags {
  std::vector<std::string> collections = {};
  /// Accounts, in any form.
  std::vector<std::string> dids = {};
  std::optional<std::string> file = std::nullopt;
  /// The flag that named the file.
  std::string file_flag = "--filter-file";
};

/// What the command line names, without the file; nothing: neither names nor a file. Handles are
/// looked up, once everything else is known to be right. UsageError for what is neither a
/// collection nor an account, and for a file that holds no filter; std::runtime_error for a handle
/// that leads nowhere.
std::optional<filter::FilterChoice> filter_choice(const Settings& settings,
                                                  const FilterFlags& flags,
                                                  const VerificationFlags& verification);

}  // namespace skua::cli
