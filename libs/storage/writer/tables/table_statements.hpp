#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "postgres/session.hpp"
#include "tables/change_log.hpp"

namespace skua::writer {

/// A column of a batch, whose values are an array.
struct BatchColumn {
  std::string name;
  postgres::Array::Type type;
  /// The cast from the array's items to the type of the column, such as `::jsonb`. It is mostly
  /// empty.
  std::string cast;
};

/// Appends an item to a list of SQL, after a comma if the list is not empty.
void append_item(std::string& list, const std::string& item);

/// The columns of a batch, as a statement lists them. The arrays of these columns are the first
/// parameters of the statement, in order. The function that builds the statement owns the lists.
struct ColumnLists {
  std::string names;   // a, b
  std::string arrays;  // $1::int4[], $2::text[]
  std::string values;  // u.a, u.b::jsonb
  std::size_t size = 0;

  void append(std::span<const BatchColumn> columns);
};

/// The columns of a counted reference.
struct ReferenceColumns {
  tables::ReferenceRole role = tables::ReferenceRole::Like;
  bool counts_once = false;
  std::string actor;
  /// A column or a constant.
  std::string collection;
  std::string rkey;
};

/// The text of a table's statements. The parameters are the arrays of the columns in their order,
/// followed by `indexed_at` if the statement may insert a row.
class TableStatements {
 public:
  /// `keys` are the leading columns, which form the primary key. The other columns must contain
  /// `rev` and `cid`.
  TableStatements(const std::string& table, std::span<const BatchColumn> keys,
                  std::span<const BatchColumn> columns,
                  std::span<const ReferenceColumns> references);

  /// Makes removals leave an empty row, even if the key had no row before. In an empty row, all
  /// columns but key, rev and first_cid are null. `marker` is a column that is true if the removal
  /// is a delete. An upsert sets it to false.
  ///
  /// The table has a column `first_cid`. The first CID of a row is `first_cid`, or `cid` if that is
  /// null. No statement changes the first CID of a row, or deletes a row that has one (ADR 16).
  /// `drop_stubs` is the exception.
  void keep_stubs(const std::string& marker);
  bool keeps_stubs() const { return keeps_stubs_; }

  /// `table` returns a name such as `bsky.likes`. `copied` returns the columns of a COPY: the keys,
  /// the other columns, `indexed_at`.
  std::string table() const { return "bsky." + table_; }
  const std::string& copied() const { return copied_; }
  std::size_t copied_size() const { return keys_.size() + columns_.size() + 1; }
  /// The table of a session to which rows are copied before they are merged. It is emptied at the
  /// end of each transaction. `make_stage` has no parameters. `merge` has one parameter: the
  /// accounts whose rows stay unchanged if they hold the same record. It returns the key of each
  /// row that it writes, and the old content of the row.
  std::string stage() const { return "pg_temp.stage_" + table_; }
  const postgres::Statement& make_stage() const { return make_stage_; }
  const postgres::Statement& merge() const { return merge_; }
  /// The parameters are the arrays of the ranges' first keys, of their last rkeys, and of the
  /// numbers of rows to read. Returns the index of the range, from 0, the rkey of a row, whether
  /// the row is a stub, and the first CID of a stub.
  const postgres::Statement& read_keys() const { return read_keys_; }
  /// The parameters are the arrays of the keys. The caller inserts rows with the same first CIDs in
  /// the same transaction.
  const postgres::Statement& drop_stubs() const { return drop_stubs_; }
  /// The parameters are the accounts, and a revision for each account.
  const postgres::Statement& actors_with_rows_before() const { return actors_with_rows_before_; }
  /// The parameters are the account, the revision, the maximum number of rows, the rkey before the
  /// first one, and its collection. Returns the rkey, and its text if the number does not determine
  /// the text. If the collection is in the key, the statement also returns the collection and its
  /// NSID.
  const postgres::Statement& rows_before() const { return rows_before_; }

  // Old content consists of columns in this order. The first states whether the row had content,
  // and the second whether it had the same CID (null if the statement has no new CID). Then follow
  // the account, collection and key of each counted reference (null if there is no reference).

  /// Inserts rows that do not exist, and returns their keys.
  const postgres::Statement& insert() const { return insert_; }
  /// Replaces rows of older revisions. Returns the indices of the events, from 0, and the old
  /// content of the rows.
  const postgres::Statement& update() const { return update_; }
  /// Removes rows. In a table that keeps stubs, it empties the rows. The parameters are the arrays
  /// of the keys, the revisions, and whether each removal is a delete. Returns the indices of the
  /// removed keys, from 0, and the old content of the rows.
  const postgres::Statement& remove() const { return remove_; }
  /// Inserts the stubs of keys without a row, and empties rows that were inserted since `remove`.
  /// It is for a table that keeps stubs, after `remove`. It has the parameters of `remove`, and
  /// `indexed_at`.
  const postgres::Statement& insert_stubs() const { return insert_stubs_; }
  /// The parameters are the arrays of the keys. Returns the index of each key, from 0, and the rev
  /// of its row.
  const postgres::Statement& read_revs() const { return read_revs_; }
  /// Removes rows of one account with at most a given revision, as `remove` would. The parameters
  /// are the account, the revision, and the maximum number of rows. Returns the keys of the rows
  /// and their old content.
  const postgres::Statement& purge() const { return purge_; }
  /// Finds rows that are older than a time. The parameters are the time, the maximum number of
  /// rows, and the first block and the end of the blocks as ctid. If the collection is in the key,
  /// the collection replaces the blocks. Returns the key and the DID of the account.
  const postgres::Statement& expired() const { return expired_; }
  /// Deletes rows. A row with a first CID becomes a stub. The parameters are the arrays of the
  /// keys, and a time or null. Rows that are not older than the time stay. Returns the keys, the
  /// revisions and the old content of the deleted rows.
  const postgres::Statement& discard() const { return discard_; }
  /// Counts the rows of accounts whose first reference that counts once has a given target. The
  /// parameters are arrays of accounts, of the account, collection and key of the targets, and of
  /// the numbers at which counting ends. Returns the numbers, in order.
  const postgres::Statement& count_references() const { return count_references_; }
  /// Finds rows that refer to the targets besides one row. It has the parameters of
  /// `count_references`, but the last array has the keys of the rows to ignore. Returns the
  /// indices, from 0, of the questions for which another row exists.
  const postgres::Statement& other_references() const { return other_references_; }
  /// Reads the references that count once of accounts. The parameters are arrays of accounts and of
  /// the numbers of rows at which reading ends. Returns the index of the account, from 0, the
  /// target, which is 0 for a row without the reference, and the key of the row.
  const postgres::Statement& own_references() const { return own_references_; }

 private:
  /// The condition that `t` is a post of which only references were seen. The row of a deleted post
  /// has a revision.
  static constexpr const char* kIsStub = "(t.rev <= 0 AND t.cid IS NULL)";
  static constexpr const char* kFirstCid = "coalesce(t.first_cid, t.cid)";

  /// Returns a query for the references to the post `t` that have no CID of their own.
  static std::string relying_references();

  std::string merge_sql(const std::string& marker) const;
  std::string rows_before_sql() const;
  std::string insert_sql(const std::string& marker) const;
  std::string update_sql(const std::string& marker) const;
  std::string count_references_sql() const;
  std::string own_references_sql() const;
  std::string other_references_sql() const;
  /// Returns the part of a statement that finds the rows `t` of an account with a target in `u`. It
  /// is empty if no reference counts once.
  std::string same_reference() const;
  /// Returns the old content of the row `t`, as the statements return it. `same` compares CIDs, or
  /// is NULL.
  std::string old_content(const std::string& same) const;
  /// Returns the key columns of the row or batch `name`.
  std::string keys_of(const std::string& name) const;
  /// Returns the assignments `, first_cid = ..., text = NULL, ...` that empty a row.
  std::string empty() const;
  std::string remove_sql() const;
  std::string empty_sql(const std::string& marker) const;
  std::string insert_stubs_sql(const std::string& marker) const;
  /// `first_cid` is the first CID of a stub.
  std::string read_keys_sql(const std::string& first_cid) const;
  std::string drop_stubs_sql() const;
  std::string read_revs_sql() const;
  std::string purge_sql(const std::string& marker) const;
  /// `condition` is an additional condition on the rows.
  std::string expired_sql(const std::string& condition) const;
  std::string discard_sql() const;
  std::string discard_to_stub_sql(const std::string& marker) const;
  /// Returns the time from which the age of the row `t` counts.
  std::string age_from() const;
  /// Returns `t.actor_id = u.actor_id AND ...`.
  std::string same_key() const;
  std::string column_names() const;

  const std::string table_;
  const std::vector<BatchColumn> keys_;
  const std::vector<BatchColumn> columns_;
  const std::vector<ReferenceColumns> references_;
  const std::string copied_;
  postgres::Statement make_stage_;
  postgres::Statement merge_;
  postgres::Statement read_keys_;
  postgres::Statement drop_stubs_;
  postgres::Statement actors_with_rows_before_;
  postgres::Statement rows_before_;
  postgres::Statement insert_;
  postgres::Statement update_;
  postgres::Statement remove_;
  postgres::Statement insert_stubs_;
  postgres::Statement read_revs_;
  postgres::Statement purge_;
  postgres::Statement expired_;
  postgres::Statement discard_;
  postgres::Statement count_references_;
  postgres::Statement other_references_;
  postgres::Statement own_references_;
  bool keeps_stubs_ = false;
};

}  // namespace skua::writer
