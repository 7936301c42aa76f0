#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua::backfill::impl {

/// The used fields of an entry of listRepos, listReposByCollection or listHosts. A field that is
/// absent or of another type is empty; for an entry that is not an object all are empty.
struct ListEntry {
  std::string did;
  std::string rev;
  std::optional<bool> active;
  std::string hostname;
  std::string status;
  std::optional<std::uint64_t> account_count;
};

/// Reads the entries of the list called `name` one by one, and returns the page's cursor; empty:
/// there is none, or the list is absent or null, which ends a list. Memory is bounded by about the
/// longest string of the text. Discard the entries after an error. Errors: list_form,
/// list_too_long.
Result<std::string> read_list(std::string_view json, std::string_view name,
                              const std::function<void(const ListEntry&)>& each);

}  // namespace skua::backfill::impl
