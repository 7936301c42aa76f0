#include "feed/consumers/failed_work.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "store/sqlstate.hpp"

namespace skua::feed {

FailedWork failed_work(const store::SqlError& error) {
  const std::string_view state = error.sqlstate();
  const auto begins_with = [state](std::initializer_list<std::string_view> beginnings) {
    return std::ranges::any_of(beginnings,
                               [&](auto beginning) { return state.starts_with(beginning); });
  };
  if (state.empty() || state == store::kReadOnly || begins_with({"08", "53", "57P"})) {
    return FailedWork::Server;
  }
  if (state == store::kLockNotAvailable || begins_with({"40"})) return FailedWork::Lock;
  if (state == store::kSequenceExhausted) return FailedWork::Tables;
  if (state == store::kQueryCanceled || begins_with({"22", "23", "54", "P0"})) {
    return FailedWork::Change;
  }
  return FailedWork::Tables;
}

}  // namespace skua::feed
