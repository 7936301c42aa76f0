#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "tables/change_log.hpp"
#include "writer/effects.hpp"

namespace skua::writer {

/// A run of keys of one account and collection: `first` up to `last`.
struct KeyRange {
  RecordKey first;
  std::int64_t last = 0;
  /// How many rows are worth reading.
  std::size_t limit = 0;
};

/// A row that `read_keys` found.
struct FoundKey {
  std::int64_t rkey = 0;
  /// It holds nothing, and gives way to a record of any revision but 0.
  bool is_stub = false;
};

/// A row that stands in a table, and its record's path: `app.bsky.feed.like/3k...`.
struct StoredRow {
  RecordKey key;
  std::string path;
};

/// Asks for rows that are older than the retention of their collection.
struct ExpiredQuestion {
  /// For `bsky.records`.
  std::int32_t collection_id = 0;
  /// The blocks of the table to read. Of `bsky.records` an index finds the rows.
  std::int64_t first_block = 0;
  std::int64_t end_block = 0;
  /// `created_at` or `indexed_at` of the row, whichever is earlier, is before this.
  Timestamp before = {};
  std::size_t limit = 0;
};

struct ExpiredRow {
  RecordKey key;
  std::string did;
};

/// How many records of an account refer to a target, for a reference that counts once.
struct ReferenceQuestion {
  AccountNumber actor_id = 0;
  tables::ReferenceTarget target;
  /// The numbers of references to the target that this transaction added and removed.
  std::int64_t added = 0;
  std::int64_t removed = 0;
  /// The key of the record if the transaction changed one reference alone.
  std::int64_t rkey = 0;
};

/// How a batch reaches one table of `bsky`. Has no state: one object serves all threads. Each
/// function is one or two set-based statements in the caller's transaction and throws
/// postgres::SqlError. It reports the effects on the content of records. The transaction holds the
/// locks of the accounts.
/// Events are record changes of one collection (for `bsky.records`: of any), resolved, one a key,
/// sorted by key.
class TableWriter {
 public:
  using Events = std::span<const event::ResolvedEvent* const>;
  /// What `read_revs` says of a key without a row: older than any revision.
  static constexpr std::int64_t kNoRow = -1;

  virtual ~TableWriter() = default;

  /// The name in SQL, such as `bsky.likes`.
  virtual std::string name() const = 0;
  /// The collection whose records stand here; 0: `bsky.records`.
  virtual std::int32_t collection_id() const = 0;

  /// Inserts rows, and replaces those that are of an older revision. A row that gets a newer
  /// revision of the same record (equal cid) keeps its `indexed_at`. Returns the number of rows
  /// changed.
  virtual std::size_t upsert(postgres::Session& session, Events events, Timestamp indexed_at,
                             Effects& effects) const = 0;

  /// Appends rows by COPY: no row of these keys may be there. (DataError, 23505, when one is.)
  virtual void copy(postgres::Session& session, Events events, Timestamp indexed_at,
                    Effects& effects) const = 0;

  /// Does what `upsert` does, for many events at a time; of the accounts in `settled` it leaves
  /// rows that hold the same record (equal cid) untouched, their revision included. For those
  /// nothing may come any more that is older than their event: a row of an old revision would give
  /// way to it. Two statements; once a transaction.
  virtual std::size_t merge(postgres::Session& session, Events events,
                            std::span<const AccountNumber> settled, Timestamp indexed_at,
                            Effects& effects) const = 0;

  /// The record keys of the rows in each of the ranges, up to its limit, in no order.
  virtual std::vector<std::vector<FoundKey>> read_keys(postgres::Session& session,
                                                       std::span<const KeyRange> ranges) const = 0;

  /// Removes the events' rows that are stubs, and no others: a COPY after it costs less than
  /// `merge`.
  virtual void drop_stubs(postgres::Session& session, Events events) const = 0;

  /// Those of `actors` that have a row of a revision before the one at their place in `revs`, and
  /// of posts one that holds a record; in no order. Reads all their rows.
  virtual std::vector<AccountNumber> actors_with_rows_before(
      postgres::Session& session, std::span<const AccountNumber> actors,
      std::span<const std::int64_t> revs) const = 0;

  /// An account's rows of revisions before `rev`, in the order of their keys after `after` (without
  /// a key: from the first on), `limit` at most. Of posts only those that hold a record.
  virtual std::vector<StoredRow> rows_before(postgres::Session& session, AccountNumber actor_id,
                                             std::int64_t rev,
                                             const std::optional<RecordKey>& after,
                                             std::size_t limit) const = 0;

  /// Deletes rows with an older revision than the event. For a post an empty row stays, or is
  /// inserted with `indexed_at`, so that the result does not depend on earlier events. It is marked
  /// as deleted if the event is a delete, and not a record that left its table. Returns the number
  /// of changed rows.
  virtual std::size_t remove(postgres::Session& session, Events events, Timestamp indexed_at,
                             Effects& effects) const = 0;

  /// The revision of each key's row, or kNoRow.
  virtual std::vector<std::int64_t> read_revs(postgres::Session& session,
                                              std::span<const RecordKey> keys) const = 0;

  /// Removes up to `limit` rows of an account whose revision is `rev` or older; of posts an empty
  /// row stays, marked as deleted. Returns how many.
  virtual std::size_t purge(postgres::Session& session, AccountNumber actor_id, std::int64_t rev,
                            std::size_t limit, Effects& effects) const = 0;

  /// Rows that are older than the question says, in no order. Reads without locks.
  virtual std::vector<ExpiredRow> expired_rows(postgres::Session& session,
                                               const ExpiredQuestion& question) const = 0;

  /// Deletes these rows, and leaves no stub, as if they had never been stored. With `before` only
  /// rows that are older still. Returns how many had content.
  virtual std::size_t discard(postgres::Session& session, std::span<const RecordKey> keys,
                              std::optional<Timestamp> before, Effects& effects) const = 0;

  /// For each question the number of rows that refer to the target. An account may have any number
  /// of likes of one post, so counting ends at one more than the added ones. Only of a table whose
  /// records have a reference that counts once.
  virtual std::vector<std::int64_t> count_references(
      postgres::Session& session, std::span<const ReferenceQuestion> questions) const = 0;
};

/// The table of a collection that has one; null for all others.
const TableWriter* table_of(std::int32_t collection_id);

/// `bsky.records`.
const TableWriter& records_table();

}  // namespace skua::writer
