#pragma once

#include <utility>

#include "accounts/account_source.hpp"
#include "accounts/retrying_accounts.hpp"
#include "ingest/decoder.hpp"
#include "ingest/pending_heads.hpp"
#include "ingest/repository_lookup.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::ingest {

/// The parts of a pipeline's verification that ask the database and the network. Outlives the
/// pipeline.
class Verifying {
 public:
  /// `source` and `heads` must outlive it. `heads` and `lookup`: see RepositoryLookup.
  Verifying(accounts::AccountSource& source, PendingHeads* heads, verify::Level level,
            RepositoryLookup::Options lookup)
      : accounts_(source),
        repositories_(accounts_, heads, std::move(lookup)),
        verification_{
            .level = level, .accounts = accounts_, .repositories = repositories_, .heads = heads} {}
  ~Verifying() { stop(); }
  Verifying(const Verifying&) = delete;
  Verifying& operator=(const Verifying&) = delete;

  const Verification& verification() const { return verification_; }

  /// Ends active questions, and stops the AccountSource. Idempotent.
  void stop() {
    accounts_.stop();
    repositories_.stop();
  }

 private:
  accounts::RetryingAccounts accounts_;
  RepositoryLookup repositories_;
  const Verification verification_;
};

}  // namespace skua::ingest
