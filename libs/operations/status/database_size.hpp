#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"

namespace skua::status {

/// Measures the size of the database on disk, and notices a server that does not answer. Has a
/// thread and a connection of its own, so that a silent server delays nobody else. Never fails.
class DatabaseSize {
 public:
  struct Sample {
    Timestamp at;
    std::int64_t bytes = 0;
  };

  DatabaseSize(std::string database_url, const Clock& clock);

  void start() { thread_.start(); }

  /// The latest values; nothing: there are none. Any thread.
  std::optional<Sample> latest() const;
  /// Since when a query has had no answer, if that is unusually long. Any thread.
  std::optional<Timestamp> unanswered_since() const;

 private:
  void measure(postgres::LazySession& session);

  postgres::Runtime runtime_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::optional<Sample> latest_;
  /// The start of the query without an answer.
  struct Asked {
    Timestamp at;
    std::chrono::steady_clock::time_point steady;
  };
  std::optional<Asked> asked_;
  postgres::SessionThread thread_;
};

// The numbers of accounts and repositories by state. The work is bounded: large tables are
// estimated from a sample. All functions throw postgres::SqlError.

/// Repositories that are verified or were downloaded: `skua.repositories`.
struct RepositoryCounts {
  /// Counted; false: estimated from a part of the table.
  bool exact = true;
  /// partial, complete, desynchronized.
  std::map<std::string, std::int64_t> by_state;
  /// For the desynchronized ones.
  std::int64_t resyncs_failed = 0;
};

/// Desynchronized repositories are counted exactly up to 100,000; beyond that, failed resyncs are
/// counted among that many only. A table of more than `sampled_blocks` blocks is estimated from
/// that many random blocks.
RepositoryCounts repository_counts(postgres::Session& session, std::int64_t sampled_blocks = 4000);

/// All accounts.
struct AccountCounts {
  bool exact = true;
  /// Accounts that were seen, or that a record names.
  std::int64_t known = 0;
  /// Of these: have records.
  std::int64_t with_records = 0;
  /// Of these: without a verified head, as from a Tap or a Jetstream.
  std::int64_t without_chain = 0;
  /// Inactive ones by hosting status; `inactive`: the status is not known.
  std::map<std::string, std::int64_t> hidden;
};

/// With more than `sampled` accounts: estimated from that many random accounts.
AccountCounts account_counts(postgres::Session& session, std::int32_t sampled = 1000);

}  // namespace skua::status
