#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "identity/account.hpp"
#include "identity/identity_table.hpp"
#include "store/session.hpp"

namespace skua::identity {

/// Nothing: the row has no usable key.
std::optional<Account> account_of(const IdentityRow& row);
IdentityRow row_of(const Account& account);

/// `skua.identities` for a cache that works without it while the database is away: everything in
/// the table can be fetched again. One thread.
class StoredIdentities {
 public:
  /// An empty `database_url`: nothing is stored. `session_name` is how other sessions see this one.
  StoredIdentities(std::string database_url, std::string session_name)
      : url_(std::move(database_url)), name_(std::move(session_name)) {}

  std::vector<IdentityRow> load(const std::vector<std::string>& dids);
  void save(std::vector<IdentityRow> rows);

 private:
  void perform(const std::function<void(store::Session&)>& work);

  const std::string url_;
  const std::string name_;
  std::unique_ptr<store::Session> session_;
  std::chrono::steady_clock::time_point away_until_;
};

}  // namespace skua::identity
