#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atproto/sha256.hpp"
#include "base/account_number.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "tables/change_log.hpp"
#include "writer/effects.hpp"

namespace skua::writer {

/// A run of keys of one account and collection, from `first` to `last`.
struct KeyRange {
  RecordKey first;
  std::int64_t last = 0;
  /// The maximum number of rows to read.
  std::size_t limit = 0;
};

/// A row that `read_keys` found.
struct FoundKey {
  std::int64_t rkey = 0;
  /// Whether the row is a stub. A record of any revision but 0 replaces a stub.
  bool is_stub = false;
  /// The first CID of a stub, if it has one (ADR 16).
  std::optional<atproto::Digest> first_cid;
};

/// A stored row, and the path of its record: `app.bsky.feed.like/3k...`.
struct StoredRow {
  RecordKey key;
  std::string path;
};

/// A question for rows that are older than the retention of their collection.
struct ExpiredQuestion {
  /// The collection of the records, for `bsky.records` only.
  std::int32_t collection_id = 0;
  /// The blocks of the table to read. For `bsky.records` they have no effect, because an index
  /// finds the rows.
  std::int64_t first_block = 0;
  std::int64_t end_block = 0;
  /// The time before which the earlier of the row's `created_at` and `indexed_at` must be.
  Timestamp before = {};
  std::size_t limit = 0;
};

struct ExpiredRow {
  RecordKey key;
  std::string did;
};

/// A question for the number of records of an account that refer to a target. It is for a reference
/// that counts once.
struct ReferenceQuestion {
  AccountNumber actor_id = 0;
  tables::ReferenceTarget target;
  /// The numbers of references to the target that this transaction added and removed.
  std::int64_t added = 0;
  std::int64_t removed = 0;
  /// The key of the record if the transaction changed only one reference.
  std::int64_t rkey = 0;
};

/// Reads and writes one table of `bsky` in batches. It has no state: one object serves all threads.
/// Each function is one or two set-based statements in the caller's transaction, reports its
/// effects on the content of records, and throws postgres::SqlError. The transaction holds the
/// locks of the accounts. Events are record changes of one collection (for `bsky.records`: of any
/// collection). They are resolved, at most one for each key, and sorted by key.
class TableWriter {
 public:
  using Events = std::span<const event::ResolvedEvent* const>;
  /// The answer of `read_revs` for a key without a row. It is older than any revision.
  static constexpr std::int64_t kNoRow = -1;

  virtual ~TableWriter() = default;

  /// The name in SQL, such as `bsky.likes`.
  virtual std::string name() const = 0;
  /// The collection whose records the table has; 0 for `bsky.records`.
  virtual std::int32_t collection_id() const = 0;

  /// Inserts rows, and replaces rows of older revisions. A row that gets a newer revision of the
  /// same record (equal CID) keeps its `indexed_at`. Returns the number of rows changed.
  virtual std::size_t upsert(postgres::Session& session, Events events, Timestamp indexed_at,
                             Effects& effects) const = 0;

  /// Appends rows by COPY. Throws DataError with SQLSTATE 23505 if one of the keys has a row.
  virtual void copy(postgres::Session& session, Events events, Timestamp indexed_at,
                    Effects& effects) const = 0;

  /// Does the same as `upsert`, for many events at a time. For the accounts in `settled`, it does
  /// not change rows that hold the same record (equal CID), and leaves their old revision. This is
  /// only correct if no event comes that is older than the account's event in `events`, because
  /// such an event would replace a row of an old revision. It consists of two statements, and may
  /// be called once in a transaction.
  virtual std::size_t merge(postgres::Session& session, Events events,
                            std::span<const AccountNumber> settled, Timestamp indexed_at,
                            Effects& effects) const = 0;

  /// Returns the record keys of the rows in each range, up to the limit of the range, in no order.
  virtual std::vector<std::vector<FoundKey>> read_keys(postgres::Session& session,
                                                       std::span<const KeyRange> ranges) const = 0;

  /// Removes the rows of the events' keys that are stubs, and no other rows. To copy afterwards
  /// costs less than `merge`. The stubs have no other first CIDs than the events, and the caller
  /// copies the events in the same transaction (ADR 16).
  virtual void drop_stubs(postgres::Session& session, Events events) const = 0;

  /// Returns the accounts of `actors`, in no order, that have a row of a revision before the one at
  /// the same index of `revs`. For posts, only rows that hold a record count. It reads all rows of
  /// the accounts.
  virtual std::vector<AccountNumber> actors_with_rows_before(
      postgres::Session& session, std::span<const AccountNumber> actors,
      std::span<const std::int64_t> revs) const = 0;

  /// Returns at most `limit` rows of an account with revisions before `rev`, in the order of their
  /// keys. It begins after the key `after`, or with the first row if `after` is empty. Of posts it
  /// returns only rows that hold a record.
  virtual std::vector<StoredRow> rows_before(postgres::Session& session, AccountNumber actor_id,
                                             std::int64_t rev,
                                             const std::optional<RecordKey>& after,
                                             std::size_t limit) const = 0;

  /// Deletes rows with an older revision than the event. For a post, an empty row stays, or is
  /// inserted with `indexed_at`, so that the result does not depend on earlier events. The empty
  /// row is marked as deleted if the event is a delete. It is not marked if the event is a record
  /// that left its table. Returns the number of changed rows.
  virtual std::size_t remove(postgres::Session& session, Events events, Timestamp indexed_at,
                             Effects& effects) const = 0;

  /// Returns the revision of the row of each key, or kNoRow.
  virtual std::vector<std::int64_t> read_revs(postgres::Session& session,
                                              std::span<const RecordKey> keys) const = 0;

  /// Removes up to `limit` rows of an account whose revision is `rev` or older. For a post, an
  /// empty row stays, marked as deleted. Returns the number of removed rows.
  virtual std::size_t purge(postgres::Session& session, AccountNumber actor_id, std::int64_t rev,
                            std::size_t limit, Effects& effects) const = 0;

  /// Returns the rows that are older than the question says, in no order. It reads without locks.
  virtual std::vector<ExpiredRow> expired_rows(postgres::Session& session,
                                               const ExpiredQuestion& question) const = 0;

  /// Deletes these rows, as if they had never been stored. A post that has a first CID becomes a
  /// stub, because references rely on the CID (ADR 16). If `before` is set,
  /// it deletes only rows that are still older than `before`. Returns the number of rows that had
  /// content.
  virtual std::size_t discard(postgres::Session& session, std::span<const RecordKey> keys,
                              std::optional<Timestamp> before, Effects& effects) const = 0;

  /// Returns for each question the number of rows that refer to the target. An account may have any
  /// number of likes of one post, so counting ends at one more than the added rows. It may only be
  /// called for a table whose records have a reference that counts once.
  virtual std::vector<std::int64_t> count_references(
      postgres::Session& session, std::span<const ReferenceQuestion> questions) const = 0;
};

/// Returns the table of a collection, or null if the collection has none.
const TableWriter* table_of(std::int32_t collection_id);

/// Returns the table `bsky.records`.
const TableWriter& records_table();

}  // namespace skua::writer
