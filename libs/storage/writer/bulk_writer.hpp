#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "writer/effects.hpp"
#include "writer/row_writer.hpp"
#include "writer/worker_services.hpp"

namespace skua::writer {

/// What holds records of history back, read by account and not by key: of most accounts there is
/// nothing. Good for the transaction in which it was read, after its locks were taken.
class BulkGuard {
 public:
  /// `actors`: sorted, without doubles. Throws postgres::SqlError.
  BulkGuard(postgres::Session& session, std::span<const AccountNumber> actors);

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

/// Writes records of history, many thousands in a transaction:
///
///   locks of the accounts -> whose jobs are still ours -> what holds records back -> COPY, of
///   records that have no row yet straight into their table, of others into one of the session's
///   own and from there a merge
///
/// As with the RowWriter, the rev guard, tombstones and floors make it idempotent. The final rows
/// are the same if live events come before, between or after. A row that already has the same
/// record stays unchanged, unless live events of the account lag behind its CAR: then it gets the
/// CAR's revision, so that an older record cannot replace it. Holds no state; the worker that owns
/// the session calls it.
class BulkWriter {
 public:
  /// `source` names where the records come from, for dead letters.
  explicit BulkWriter(SourceNames sources) : sources_(std::move(sources)) {}

  using Events = std::span<const event::ResolvedEvent* const>;

  struct Outcome {
    std::size_t rows = 0;       // whose content was inserted or changed
    std::size_t unchanged = 0;  // there already, or held back
    std::size_t held_back = 0;  // older than what is known of the account or the record
    std::size_t lost = 0;       // left out: their job was cancelled, or another has it
    std::size_t dead_letters = 0;
  };

  /// Creates and rejections of one record type and any accounts, resolved; each record key occurs
  /// once. `lease_numbers`: for each event the lease number of its job (see Chunk), 0: none; empty:
  /// none at all. If a job is no longer running under this lease, its events are not written,
  /// because deletes are remembered only while it runs. The rows of the jobs stay locked until the
  /// commit. Throws postgres::SqlError; nothing is written then.
  Outcome write(postgres::Session& session, Events events, Timestamp now,
                std::span<const std::int64_t> lease_numbers = {}) const;

 private:
  SourceNames sources_;
};

}  // namespace skua::writer
