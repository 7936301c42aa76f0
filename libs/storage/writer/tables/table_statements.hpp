#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "postgres/session.hpp"
#include "tables/change_log.hpp"

namespace skua::writer {

/// A column that a batch brings as an array.
struct BatchColumn {
  std::string name;
  postgres::Array::Type type;
  /// What turns the array's items into the column's type, such as `::jsonb`; mostly empty.
  std::string cast;
};

/// Appends an item to a list of SQL, after a comma if the list is not empty.
void append_item(std::string& list, const std::string& item);

/// The columns of a batch, as a statement lists them. The parameters of the statement begin with
/// the arrays of these columns, in order. Owned by the function that builds the statement.
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

/// The text of a table's statements. The parameters are the columns' arrays in their order, then
/// `indexed_at` where a row may be inserted.
class TableStatements {
 public:
  /// `keys` are the leading columns that make the primary key; `rev` and `cid` must be among the
  /// rest.
  TableStatements(const std::string& table, std::span<const BatchColumn> keys,
                  std::span<const BatchColumn> columns,
                  std::span<const ReferenceColumns> references);

  /// Makes removals leave an empty row instead of none, whether there was one before or not: all
  /// columns but key and rev are null, and `marker` is true if the removal is a delete. An upsert
  /// makes it false.
  void keep_stubs(const std::string& marker);
  bool keeps_stubs() const { return keeps_stubs_; }

  /// `bsky.likes`, and the columns of a COPY: the keys, the rest, `indexed_at`.
  std::string table() const { return "bsky." + table_; }
  const std::string& copied() const { return copied_; }
  std::size_t copied_size() const { return keys_.size() + columns_.size() + 1; }
  /// The session's own table, emptied at the end of each transaction, where rows that are to be
  /// merged are copied to. No parameters. `merge` has one, the accounts of which rows that hold the
  /// same record stay unchanged. It returns the key of each row that it writes, and its old
  /// content.
  std::string stage() const { return "pg_temp.stage_" + table_; }
  const postgres::Statement& make_stage() const { return make_stage_; }
  const postgres::Statement& merge() const { return merge_; }
  /// Parameters: the arrays of the ranges' first keys, of their last rkeys, and of how many rows to
  /// read of each. Answers with the range's place, from 0, a row's rkey, and whether it is a stub.
  const postgres::Statement& read_keys() const { return read_keys_; }
  /// Parameters: the keys' arrays.
  const postgres::Statement& drop_stubs() const { return drop_stubs_; }
  /// Parameters: the accounts, and a revision for each.
  const postgres::Statement& actors_with_rows_before() const { return actors_with_rows_before_; }
  /// Parameters: the account, the revision, how many at most, the rkey before the first, its
  /// collection. Answers with the rkey, its text where the number cannot give it and, where it is
  /// in the key, the collection and its NSID.
  const postgres::Statement& rows_before() const { return rows_before_; }

  // Old content is, in this order: whether the row had content, whether it had the same CID
  // (null if the statement has no new one), and for each counted reference account, collection and
  // key (null: none).

  /// Inserts rows that do not exist, and returns their keys.
  const postgres::Statement& insert() const { return insert_; }
  /// Replaces rows of older revisions. Returns their places, from 0, and their old content.
  const postgres::Statement& update() const { return update_; }
  /// Parameters: the keys' arrays, the revs, and whether each is a delete. Returns the places of
  /// the removed rows, from 0, and their old content. A table that keeps stubs empties its rows.
  const postgres::Statement& remove() const { return remove_; }
  /// For a table that keeps stubs, after `remove`: inserts the stubs of keys without a row, and
  /// empties rows that were inserted meanwhile. The parameters of `remove`, and `indexed_at`.
  const postgres::Statement& insert_stubs() const { return insert_stubs_; }
  /// Parameters: the keys' arrays. Answers with the key's place, from 0, and the row's rev.
  const postgres::Statement& read_revs() const { return read_revs_; }
  /// Removes rows of one account that are of a revision or older, as `remove` would. Parameters:
  /// the account, the revision, how many at most. Returns their keys and their old content.
  const postgres::Statement& purge() const { return purge_; }
  /// Rows that are older than a time. Parameters: the time, how many at most, and the first and the
  /// end of the blocks as ctid; where the collection is in the key, the collection in place of the
  /// blocks. Returns the key and the account's DID.
  const postgres::Statement& expired() const { return expired_; }
  /// Deletes rows. Parameters: the keys' arrays, and a time or null: rows that are not older stay.
  /// Returns their keys, revisions and old content.
  const postgres::Statement& discard() const { return discard_; }
  /// Counts the rows of accounts that have a target as their first reference that counts once.
  /// Parameters: arrays of accounts, of the target's account, collection and key, and of the
  /// numbers at which counting ends. Returns the numbers, in order.
  const postgres::Statement& count_references() const { return count_references_; }
  /// The same parameters, but the last array has a key: returns the places, from 0, where another
  /// row than the one of this key refers to the target.
  const postgres::Statement& other_references() const { return other_references_; }

 private:
  /// The condition that `t` is a post that was only referred to. A deleted post has a revision.
  static constexpr const char* kIsStub = "(t.rev = 0 AND t.cid IS NULL)";

  std::string merge_sql(const std::string& marker) const;
  std::string rows_before_sql() const;
  std::string insert_sql(const std::string& marker) const;
  std::string update_sql(const std::string& marker) const;
  std::string count_references_sql() const;
  std::string other_references_sql() const;
  /// The rows `t` of an account that refer to a target in `u`; empty if no reference counts once.
  std::string same_reference() const;
  /// Old content, as the statements return it, of the row `t`; `same` compares CIDs, or is NULL.
  std::string old_content(const std::string& same) const;
  /// Keys of the row or batch `name`.
  std::string keys_of(const std::string& name) const;
  /// `, text = NULL, ...` for all columns but rev.
  std::string set_to_null() const;
  std::string remove_sql() const;
  std::string empty_sql(const std::string& marker) const;
  std::string insert_stubs_sql(const std::string& marker) const;
  std::string read_keys_sql() const;
  std::string drop_stubs_sql() const;
  std::string read_revs_sql() const;
  std::string purge_sql(const std::string& marker) const;
  std::string expired_sql() const;
  std::string discard_sql() const;
  /// The time from which the age of the row `t` counts.
  std::string age_from() const;
  /// `t.actor_id = u.actor_id AND ...`
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
  bool keeps_stubs_ = false;
};

}  // namespace skua::writer
