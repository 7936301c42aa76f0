#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/account_number.hpp"
#include "base/guarded.hpp"
#include "store/session.hpp"

namespace skua::resolve {

/// Numbers for new accounts, drawn from the database before their rows exist, as COPY needs them.
/// Numbers that are given back serve the next call. Any thread.
class ActorNumbers {
 public:
  /// Returns `count` numbers that no other caller has. Throws store::SqlError.
  std::vector<AccountNumber> take(store::Session& session, std::size_t count);
  /// Takes back numbers that certainly no row has.
  void give_back(std::span<const AccountNumber> numbers);
  /// Call it after a COPY with `numbers` conflicted with a row. Takes the numbers back unless a row
  /// has one of them. In that case the sequence is behind the accounts: raises it, and drops all
  /// numbers that were drawn, because they would conflict again. Throws store::SqlError.
  void give_back_after_conflict(store::Session& session, std::span<const AccountNumber> numbers);

 private:
  Guarded<std::vector<AccountNumber>> spare_;
};

}  // namespace skua::resolve
