#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "atproto/account_group.hpp"
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
};

/// Throws postgres::SqlError.
AccountGroups load_account_groups(postgres::Session& session);

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

/// Returns why an account is not taken: "group 17, which this database does not own".
std::string foreign_text(std::string_view did);

}  // namespace skua::tables
