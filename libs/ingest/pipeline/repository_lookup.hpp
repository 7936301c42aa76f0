#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "accounts/account_source.hpp"
#include "pipeline/pending_heads.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"
#include "tables/repository_table.hpp"

namespace skua::pipeline {

/// A repository from the database, and its account from the AccountSource.
struct FoundRepository {
  /// As it is stored, or about to be.
  tables::RepositoryRow row;
  /// Or why there is none.
  Result<documents::Account> account;
};

/// Looks up the heads of repositories and the keys of their accounts, many at once, on a thread and
/// a database session of its own. Waits while the database is down.
class RepositoryLookup {
 public:
  using Done = std::function<void(FoundRepository)>;
  using RowFound = std::function<void(const tables::RepositoryRow&)>;

  /// `heads`: those not stored yet; null: no heads are stored, and all repositories are new.
  /// `accounts` and `heads` outlive it. `database_pause`: between two attempts while the database
  /// is down.
  RepositoryLookup(postgres::Runtime& runtime, accounts::AccountSource& accounts,
                   const PendingHeads* heads,
                   std::chrono::milliseconds database_pause = std::chrono::seconds(1));

  /// `done` is called once, on any thread, or never after a stop. `row_found` is called before it,
  /// when the head is known and the identity of the account is about to be asked for: from then on
  /// the question no longer waits for the database. It may be empty.
  void find(const std::string& did, Done done, RowFound row_found = nullptr);

  /// Ends the thread. The owner of the AccountSource has stopped it before. Idempotent.
  void stop() { thread_.stop(); }

 private:
  struct Wanted {
    std::string did;
    Done done;
    RowFound row_found;
  };

  /// One round: looks up all that is wanted. Throws postgres::SqlError; they are then still wanted.
  void look_up(postgres::LazySession& session);

  accounts::AccountSource& accounts_;
  const PendingHeads* heads_;
  std::mutex mutex_;
  std::vector<Wanted> wanted_;
  /// The thread's own: taken from `wanted_`.
  std::vector<Wanted> taken_;
  postgres::SessionThread thread_;
};

}  // namespace skua::pipeline
