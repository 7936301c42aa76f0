#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/session.hpp"

namespace skua::status {

// The numbers of accounts and repositories by state. The work is bounded: large tables are
// estimated from a sample. All functions throw store::SqlError.

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
RepositoryCounts repository_counts(store::Session& session, std::int64_t sampled_blocks = 4000);

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
AccountCounts account_counts(store::Session& session, std::int32_t sampled = 1000);

}  // namespace skua::status
