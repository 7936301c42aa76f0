#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string_view>

#include "base/shares.hpp"
#include "base/time.hpp"

namespace skua::resolve {

/// The share of each account of new account numbers: the accounts that its live records mention for
/// the first time. Without it an account could use up numbers with DIDs that do not exist. An
/// account that follows as many others as its host permits in a day stays within the share. Any
/// thread.
class NumberShares {
 public:
  static constexpr Share kOfAccount{.burst = 10'000, .every = std::chrono::seconds(5)};

  /// False: the account has used up its share.
  bool take(std::string_view did, std::size_t numbers) {
    const std::scoped_lock lock(mutex_);
    return shares_.take(did, numbers, monotonic_clock().now());
  }

 private:
  std::mutex mutex_;
  Shares shares_{kOfAccount};
};

}  // namespace skua::resolve
