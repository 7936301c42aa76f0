#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua::backfill::impl {

/// What is read of an entry of listRepos, listReposByCollection and listHosts. A field that is
/// absent or of another type is empty; an entry that is no object has nothing.
struct ListEntry {
  std::string did;
  std::string rev;
  std::optional<bool> active;
  std::string hostname;
  std::string status;
  std::optional<std::uint64_t> account_count;
};

/// Reads the entries of the list called `name` one by one, and returns the page's cursor; empty:
/// there is none. Whatever the text is, not much more memory is used than its longest string has.
/// After an error the entries do not count. Errors: list_form, list_too_long.
Result<std::string> read_list(std::string_view json, std::string_view name,
                              const std::function<void(const ListEntry&)>& each);

}  // namespace skua::backfill::impl
