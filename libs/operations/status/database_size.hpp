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

/// Measures the size of the database on disk, and detects a server that does not answer. Has its
/// own thread and connection, so that a silent server delays no other part. Never fails.
class DatabaseSize {
 public:
  struct Sample {
    Timestamp at;
    std::int64_t bytes = 0;
  };

  DatabaseSize(std::string database_url, const Clock& clock);

  void start() { thread_.start(); }

  /// Returns the latest values; nothing if there are none. Any thread.
  std::optional<Sample> latest() const;
  /// Returns the start of a query that has had no answer for an unusually long time. Any thread.
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

// The functions count accounts and repositories by state. The work is bounded: large tables are
// estimated from a sample. All functions throw postgres::SqlError.

/// The repositories that are verified or were downloaded: the rows of `skua.repositories`.
struct RepositoryCounts {
  /// True if the repositories were counted; false if their number is estimated from a part of the
  /// table.
  bool exact = true;
  /// The numbers of the states partial, complete and desynchronized.
  std::map<std::string, std::int64_t> by_state;
  /// The number of desynchronized repositories whose last resync failed.
  std::int64_t resyncs_failed = 0;
};

/// Counts desynchronized repositories exactly up to 100,000; beyond that number, failed resyncs are
/// counted among that many repositories only. A table of more than `sampled_blocks` blocks is
/// estimated from that number of random blocks.
RepositoryCounts repository_counts(postgres::Session& session, std::int64_t sampled_blocks = 4000);

/// The numbers of accounts.
struct AccountCounts {
  bool exact = true;
  /// The accounts that were seen, or that a record names.
  std::int64_t known = 0;
  /// The known accounts that have records.
  std::int64_t with_records = 0;
  /// The accounts with records but without a verified head. The events of a Tap or a Jetstream
  /// leave accounts in this state.
  std::int64_t without_chain = 0;
  /// The inactive accounts by hosting status. The key `inactive` stands for an unknown status.
  std::map<std::string, std::int64_t> hidden;
};

/// Counts the accounts. If there are more than `sampled`, the numbers are estimated from that
/// number of random accounts.
AccountCounts account_counts(postgres::Session& session, std::int32_t sampled = 1000);

}  // namespace skua::status
