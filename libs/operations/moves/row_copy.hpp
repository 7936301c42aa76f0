#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "atproto/account_group.hpp"
#include "base/account_number.hpp"
#include "postgres/session.hpp"

namespace skua::moves {

/// The accounts of a group whose numbers are in a range, both ends included. The numbers are
/// hashes, so ranges of the same width have about the same number of accounts.
struct AccountRange {
  AccountNumber first = 0;
  AccountNumber last = 0;
};

/// Returns the ranges that divide each of these groups into `parts_of_group` parts, a power of two.
std::vector<AccountRange> account_ranges(const atproto::GroupSet& groups,
                                         std::uint32_t parts_of_group);

/// A table whose rows belong to the account in a column.
struct NumberedTable {
  std::string name;
  std::string key_column;
  std::string columns;
  /// The values that are copied.
  std::string values;
};

/// Returns all such tables of a node, except those with the names of accounts and records.
std::vector<NumberedTable> numbered_tables(postgres::Session& session);

/// Copies the rows of accounts from a node to another one. Nothing may write these rows meanwhile.
/// Each function needs an open transaction of `to`, throws postgres::SqlError, may be repeated, and
/// returns the number of rows that it read. One thread.
class RowCopy {
 public:
  RowCopy(postgres::Session& from, postgres::Session& to);

  /// Copies the records, labels, record keys and deletes of these accounts, the accounts
  /// themselves, and the names of the accounts and records that they mention. A reference to a post
  /// gets its CID, because the post may stay on the other node (ADR 16).
  std::uint64_t copy_part(const AccountRange& range);
  /// Copies what is stored by DID: repositories, identities, jobs, deletions, dead letters; and the
  /// collections.
  std::uint64_t copy_states(const atproto::GroupSet& groups);

 private:
  /// The action for a row whose key exists.
  enum class Existing : std::uint8_t { Keep, Replace };

  std::uint64_t send(const std::string& query, const std::string& target);
  std::uint64_t merge(const std::string& table, const std::string& key, Existing existing,
                      const std::vector<std::string>& left_out, const std::string& from_where,
                      const std::string& overrides = {});

  postgres::Session& from_;
  postgres::Session& to_;
  const std::vector<NumberedTable> tables_;
};

/// Removes the rows of accounts from a node, without an entry in its change log. Needs an open
/// transaction, may be repeated, and throws postgres::SqlError.
class RowRemoval {
 public:
  RowRemoval(postgres::Session& session, const atproto::GroupSet& groups);

  /// Removes the records and labels of these accounts of the groups. A post on whose first CID a
  /// record of another account relies keeps its row, without content. The names of accounts and
  /// records stay.
  void remove_part(const AccountRange& range);
  /// Removes what is stored by DID.
  void remove_states();

 private:
  postgres::Session& session_;
  std::string groups_;
  std::vector<NumberedTable> tables_;
  std::string emptied_posts_;
};

}  // namespace skua::moves
