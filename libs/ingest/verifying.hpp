#pragma once

#include <utility>

#include "accounts/account_source.hpp"
#include "accounts/retrying_accounts.hpp"
#include "ingest/decoder.hpp"
#include "ingest/pending_heads.hpp"
#include "ingest/repository_lookup.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::ingest {

/// What verification asks outside of the stream, put together for a pipeline, which it outlives.
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

  /// Ends what is under way, the source included. Idempotent.
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
