#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atproto/sha256.hpp"
#include "base/account_number.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

// The change log (schema/tables/change_log.sql) has every change of the content of records,
// accounts, handles and labels, and own messages, in commit order. The values of the enums are
// those of the table.

enum class ChangeKind : std::int16_t {
  Record = 1,
  Account = 2,
  Handle = 3,
  Label = 4,
  Bootstrap = 5,
  Rules = 6,
  /// An own message of a user. skua.sequence_messages appends it.
  Message = 7
};
enum class ChangeOperation : std::int16_t { Create = 1, Update = 2, Delete = 3 };
/// The meaning of a reference for the counts of its target. Each role is one number that people
/// see, such as the likes of a post. The target of Post and Following is the author of the record.
enum class ReferenceRole : std::int16_t {
  Like = 1,
  Repost = 2,
  Reply = 3,
  Quote = 4,
  Follow = 5,
  Block = 6,
  ListItem = 7,
  Label = 8,
  Post = 9,
  Following = 10,
  Listed = 11
};

/// An account or a record as the target of a reference, by its numbers.
struct ReferenceTarget {
  AccountNumber actor_id = 0;
  /// 0 if the target is the account.
  std::int32_t collection_id = 0;
  std::int64_t rkey = 0;

  friend auto operator<=>(const ReferenceTarget&, const ReferenceTarget&) = default;
};

struct Change {
  ChangeKind kind = ChangeKind::Record;
  ChangeOperation operation = ChangeOperation::Create;
  AccountNumber actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey = 0;
  /// The revision that brought the change.
  std::int64_t rev = 0;
  /// The hash of the new version of a record.
  std::optional<atproto::Digest> cid = std::nullopt;
  /// The value of a label.
  std::string val = {};
};

/// A reference that a change adds or removes.
struct ChangedReference {
  /// The index of the change in its block.
  std::size_t change = 0;
  ReferenceRole role = ReferenceRole::Like;
  /// 1, -1, or 0 if the account has another record with the same target.
  std::int16_t delta = 0;
  ReferenceTarget target;
};

/// The changes of one transaction.
struct ChangeBlock {
  std::vector<Change> changes;
  std::vector<ChangedReference> references;
};

/// Whether this transaction must append its changes. False during a bootstrap. The answer is valid
/// until the end of the transaction. All functions below throw SqlError.
bool is_logging_changes(postgres::Session& session);

/// Appends a block with at least one change, and returns its position. Takes the lock of the log's
/// end, which no other transaction gets before this one ends, so call this function last and then
/// commit.
std::int64_t append_changes(postgres::Session& session, const ChangeBlock& block);

/// Prevents all other transactions from appending changes and from skipping them, until the end of
/// this transaction. Called at the beginning and at the end of a bootstrap.
void lock_change_log_mode(postgres::Session& session);

/// Ends a bootstrap in the log if no index is missing any more (skua.end_bootstrap). Call this
/// function after `lock_change_log_mode`. Returns whether the bootstrap has ended.
bool end_bootstrap_in_log(postgres::Session& session);

/// Begins a new timeline of the log if another database appended to it before, as after a failover
/// or a restore. Returns the timeline. Call this function before this process appends.
std::int32_t check_change_log_timeline(postgres::Session& session);

}  // namespace skua::tables
