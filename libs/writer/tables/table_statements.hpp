#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/session.hpp"

namespace skua::writer {

/// A column that a batch brings as an array.
struct BatchColumn {
  std::string name;
  store::Array::Type type;
  /// What turns the array's items into the column's type, such as `::jsonb`; mostly empty.
  std::string cast;
};

/// The text of a table's statements. The parameters are the columns' arrays in their order, then
/// `indexed_at` where a row may be inserted.
class TableStatements {
 public:
  /// `keys` are the leading columns that make the primary key; `rev` and `cid` must be among the
  /// rest.
  TableStatements(const std::string& table, std::span<const BatchColumn> keys,
                  std::span<const BatchColumn> columns);

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
  /// same record stay as they are.
  std::string stage() const { return "pg_temp.stage_" + table_; }
  const store::Statement& make_stage() const { return make_stage_; }
  const store::Statement& merge() const { return merge_; }
  /// Parameters: the arrays of the ranges' first keys, of their last rkeys, and of how many rows to
  /// read of each. Answers with the range's place, from 0, a row's rkey, and whether it is a stub.
  const store::Statement& read_keys() const { return read_keys_; }
  /// Parameters: the keys' arrays.
  const store::Statement& drop_stubs() const { return drop_stubs_; }
  /// Parameters: the accounts, and a revision for each.
  const store::Statement& actors_with_rows_before() const { return actors_with_rows_before_; }
  /// Parameters: the account, the revision, how many at most, the rkey before the first, its
  /// collection. Answers with the rkey, its text where the number cannot give it and, where it is
  /// in the key, the collection and its NSID.
  const store::Statement& rows_before() const { return rows_before_; }

  const store::Statement& upsert() const { return upsert_; }
  /// Parameters: the keys' arrays, the revs, and whether each is a delete; with stubs `indexed_at`.
  const store::Statement& remove() const { return remove_; }
  /// Parameters: the keys' arrays. Answers with the key's place, from 0, and the row's rev.
  const store::Statement& read_revs() const { return read_revs_; }
  /// Removes rows of one account that are of a revision or older, as `remove` would. Parameters:
  /// the account, the revision, how many at most.
  const store::Statement& purge() const { return purge_; }

 private:
  std::string on_conflict_sql(const std::string& marker) const;
  std::string merge_sql(const std::string& marker) const;
  std::string rows_before_sql() const;
  std::string upsert_sql(const std::string& marker) const;
  std::string remove_sql() const;
  std::string empty_sql(const std::string& marker) const;
  std::string read_keys_sql() const;
  std::string drop_stubs_sql() const;
  std::string read_revs_sql() const;
  std::string purge_sql(const std::string& marker) const;
  /// `t.actor_id = u.actor_id AND ...`
  std::string same_key() const;
  std::string column_names() const;

  const std::string table_;
  const std::vector<BatchColumn> keys_;
  const std::vector<BatchColumn> columns_;
  const std::string copied_;
  store::Statement make_stage_;
  store::Statement merge_;
  store::Statement read_keys_;
  store::Statement drop_stubs_;
  store::Statement actors_with_rows_before_;
  store::Statement rows_before_;
  store::Statement upsert_;
  store::Statement remove_;
  store::Statement read_revs_;
  store::Statement purge_;
  bool keeps_stubs_ = false;
};

}  // namespace skua::writer
