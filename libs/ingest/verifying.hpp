#pragma once

#include <optional>
#include <utility>

#include "accounts/account_source.hpp"
#include "ingest/decoder_services.hpp"
#include "ingest/pending_heads.hpp"
#include "ingest/repository_lookup.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::ingest {

/// The parts of a pipeline's verification that ask the database and the network. Outlives the
/// pipeline.
class Verifying {
 public:
  /// Of labels. `source` must outlive it.
  explicit Verifying(accounts::AccountSource& source)
      : accounts_(source), verification_{.accounts = accounts_} {}
  /// Of commits. `source` and `heads` must outlive it. `heads`: see RepositoryLookup.
  Verifying(store::Runtime& runtime, accounts::AccountSource& source, PendingHeads* heads,
            verify::Level level)
      : accounts_(source),
        repositories_(std::in_place, runtime, accounts_, heads),
        verification_{.accounts = accounts_,
                      .repositories = &*repositories_,
                      .level = level,
                      .heads = heads} {}
  ~Verifying() { stop(); }
  Verifying(const Verifying&) = delete;
  Verifying& operator=(const Verifying&) = delete;

  const Verification& verification() const { return verification_; }

  /// Ends active questions, and stops the AccountSource. Idempotent.
  void stop() {
    accounts_.stop();
    if (repositories_) repositories_->stop();
  }

 private:
  accounts::AccountSource& accounts_;
  /// Nothing: of labels.
  std::optional<RepositoryLookup> repositories_;
  const Verification verification_;
};

}  // namespace skua::ingest
