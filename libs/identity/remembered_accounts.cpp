#include "identity/remembered_accounts.hpp"

#include <algorithm>

#include "identity/errc.hpp"

namespace skua::identity {
namespace {

/// By default no more than this can fail in the time for which failures are remembered.
constexpr std::size_t kMaxFailures = 30'000;

}  // namespace

RememberedAccounts::RememberedAccounts(const Options& options)
    : options_(options),
      accounts_(options.max_accounts),
      failures_(std::min(options.max_accounts, kMaxFailures)) {}

std::optional<Result<Account>> RememberedAccounts::answer(const std::string& did,
                                                          std::chrono::seconds max_age,
                                                          bool refresh, const Moment& moment) {
  const Account* account = accounts_.find(did);
  const Failure* failure = failures_.find(did);
  if (failure != nullptr && moment.monotonic < failure->until) {
    // A server's failure does not invalidate what is known.
    const bool stale_serves = account != nullptr && !refresh && is_server_failure(failure->error);
    if (stale_serves) return Result<Account>(*account);
    return Result<Account>(failure->error);
  }
  if (account == nullptr || !account->is_younger_than(max_age, moment.now)) return std::nullopt;
  return Result<Account>(*account);
}

void RememberedAccounts::fetched(const Account& account) {
  failures_.erase(account.did);
  keep(account);
}

bool RememberedAccounts::forget(const std::string& did) {
  if (accounts_.find(did) == nullptr) return false;
  accounts_.erase(did);
  return true;
}

void RememberedAccounts::failed(const std::string& did, const ErrorCode& error,
                                Timestamp monotonic) {
  const auto pause = is_server_failure(error) ? options_.server_failure : options_.data_failure;
  failures_.insert(did, {error, monotonic + pause});
}

}  // namespace skua::identity
