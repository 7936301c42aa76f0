#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/account_number.hpp"
#include "event/resolved_event.hpp"
#include "store/session.hpp"
#include "writer/guard.hpp"
#include "writer/record_key.hpp"

namespace skua::writer {

/// What holds records of history back, read by account and not by key: of most accounts there is
/// nothing. Good for the transaction in which it was read, after its locks were taken.
class BulkGuard {
 public:
  /// `actors`: sorted, without doubles. Throws store::SqlError.
  BulkGuard(store::Session& session, std::span<const AccountNumber> actors);

  /// Leaves the records that are news to their accounts: those at or above the floor (of a deleted
  /// account: above it), and newer than their tombstone and their row in `bsky.records`.
  std::vector<GuardedChange> news(std::span<const event::ResolvedEvent* const> changes) const;

  /// Those accounts, sorted, of which all live events up to the revision of their changes here are
  /// durable: none comes any more.
  std::vector<AccountNumber> settled(std::span<const event::ResolvedEvent* const> changes) const;

 private:
  template <class Key, class Value>
  using Map = boost::unordered_flat_map<Key, Value, boost::hash<Key>>;

  /// The newest revision that is no news.
  Map<AccountNumber, std::uint64_t> old_;
  /// Where the account's repository is known to stand.
  Map<AccountNumber, std::uint64_t> heads_;
  Map<RecordKey, std::uint64_t> tombstones_;
  Map<RecordKey, std::uint64_t> records_;
};

}  // namespace skua::writer
