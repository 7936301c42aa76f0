#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/session.hpp"

namespace skua::status {

// How many accounts and repositories are in which state, for people. The work is bounded, however
// many there are: what is too much to count is projected from a sample. All throw store::SqlError.

/// Repositories whose chain is followed, or whose history was brought in: `skua.repositories`.
struct RepositoryCounts {
  /// Counted; false: projected from a part of the table.
  bool exact = true;
  /// partial, complete, desynchronized.
  std::map<std::string, std::int64_t> by_state;
  /// Of those that are desynchronized.
  std::int64_t resyncs_failed = 0;
};

/// Those that wait for a resync are counted one by one while they are few (100,000); beyond, so are
/// failed resyncs among as many of them only. A table of more than `sampled_blocks` blocks is
/// projected from as many, drawn at random.
RepositoryCounts repository_counts(store::Session& session, std::int64_t sampled_blocks = 4000);

/// Accounts, whatever was said of them and wherever they come from.
struct AccountCounts {
  bool exact = true;
  /// Seen or named by a record.
  std::int64_t known = 0;
  /// Of these: have records.
  std::int64_t with_records = 0;
  /// Of those: are followed without a chain, as from a Tap or a Jetstream, or without verification.
  std::int64_t without_chain = 0;
  /// Not active, by status; `inactive` where none is known.
  std::map<std::string, std::int64_t> hidden;
};

/// Of more than `sampled` accounts so many are looked at, drawn at random.
AccountCounts account_counts(store::Session& session, std::int32_t sampled = 1000);

}  // namespace skua::status
