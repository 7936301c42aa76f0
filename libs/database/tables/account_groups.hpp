#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "atproto/account_group.hpp"
#include "atproto/computed_number.hpp"
#include "base/account_number.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

/// The groups of accounts of a database (`skua.account_groups`). They never change after the first
/// account was stored.
struct AccountGroups {
  /// Whether account numbers contain the group of the account.
  bool numbers_have_group = true;
  /// The groups whose accounts the database stores. Accounts of other groups have a row in
  /// bsky.actors if a record mentions them, and no records.
  atproto::GroupSet owned;
  /// The number of bits of an account number below its group: kDrawnBits, or kComputedBits on a
  /// node.
  int group_shift = kDrawnBits;

  bool has_computed_numbers() const { return group_shift == kComputedBits; }
  /// Returns the group of a number, whose meaning requires `numbers_have_group`.
  AccountGroup group_of(AccountNumber number) const {
    return static_cast<AccountGroup>(number >> group_shift);
  }
};

/// Throws postgres::SqlError.
AccountGroups load_account_groups(postgres::Session& session);

/// Returns the key from which a node computes numbers; nothing if the database is no node. The role
/// skua_reader may not read it. Throws postgres::SqlError.
std::optional<atproto::NumberKey> load_number_key(postgres::Session& session);

/// The statement of groups that a database refuses. The message is for the user.
class GroupsRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the groups of the database. `stated` are the groups that the user states. In a new
/// database they are stored. If the database has other groups and is not new, throws GroupsRefused.
/// Throws postgres::SqlError.
AccountGroups state_account_groups(postgres::Session& session,
                                   const std::optional<atproto::GroupSet>& stated);

/// Makes a new database a node of a network: it owns these groups, and computes numbers with the
/// key. If it is such a node already, nothing changes. Throws GroupsRefused if the database has
/// other groups or another key and is not new, or if a process works with it. Throws
/// postgres::SqlError.
void make_node(postgres::Session& session, const atproto::GroupSet& owned,
               const atproto::NumberKey& key);

/// Returns why an account is not taken: "group 17, which this database does not own".
std::string foreign_text(std::string_view did);

}  // namespace skua::tables
