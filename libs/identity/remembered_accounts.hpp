#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/generational_map.hpp"
#include "base/result.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "identity/account.hpp"

namespace skua::identity {

/// The accounts that were found lately, and for a short time the failures of those that were not.
/// No I/O, no clock of its own; one thread.
class RememberedAccounts {
 public:
  struct Options {
    std::size_t max_accounts = 0;
    /// For how long a failure is remembered: of the data, and of a server (`is_server_failure`).
    std::chrono::seconds data_failure{0};
    std::chrono::seconds server_failure{0};
  };

  explicit RememberedAccounts(const Options& options);

  /// The times of one call: `now` dates documents, `monotonic` failures.
  struct Moment {
    Timestamp now;
    Timestamp monotonic;
  };
  /// What can be answered without a request: an account that is younger than `max_age`, or a
  /// failure. After a server's failure an older account is good enough, unless `refresh`. Nothing:
  /// the document must be requested.
  std::optional<Result<Account>> answer(const std::string& did, std::chrono::seconds max_age,
                                        bool refresh, const Moment& moment);

  /// Null: not known. The pointer is valid until the next call.
  const Account* find(const std::string& did) { return accounts_.find(did); }

  void keep(const Account& account) { accounts_.insert(account.did, account); }
  /// The account's document was fetched: its failure ends.
  void fetched(const Account& account);
  /// The data of a known account no longer holds. False: it was not known.
  bool forget(const std::string& did);
  /// The table may have other data: nothing is known, not even a failure.
  void invalidate(const std::string& did) {
    accounts_.erase(did);
    failures_.erase(did);
  }
  void failed(const std::string& did, const ErrorCode& error, Timestamp monotonic);

 private:
  struct Failure {
    ErrorCode error;
    Timestamp until;
  };

  const Options options_;
  GenerationalMap<std::string, Account, SeededHash> accounts_;
  GenerationalMap<std::string, Failure, SeededHash> failures_;
};

}  // namespace skua::identity
