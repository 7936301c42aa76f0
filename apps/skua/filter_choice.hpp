#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/filter_watch.hpp"

namespace skua::cli {

/// What `skua run` and `skua filter` were given of a filter.
struct FilterFlags {
  std::vector<std::string> collections;
  std::vector<std::string> dids;
  std::optional<std::string> file;
};

/// What the command line names, without the file; nothing: neither names nor a file. UsageError for
/// what is no collection and no DID, and for a file that holds no filter.
std::optional<app::FilterChoice> filter_choice(const FilterFlags& flags);

}  // namespace skua::cli
