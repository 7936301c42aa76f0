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

/// The minimum revisions, tombstones and rows of `bsky.records` that hold records of history back.
/// They are read by account and not by key, because most accounts have none. They are valid in the
/// transaction in which they were read, after it has taken the locks of the accounts.
class BulkGuard {
 public:
  /// `actors` is sorted, without duplicates. Throws postgres::SqlError.
  BulkGuard(postgres::Session& session, std::span<const AccountNumber> actors);

  /// Returns the records that are news to their accounts: at or above the minimum revision (above
  /// it for a deleted account), and newer than their tombstone and their row in `bsky.records`.
  std::vector<GuardedChange> news(std::span<const event::ResolvedEvent* const> changes) const;

  /// Returns the accounts, sorted, all of whose live events up to the revision of their changes in
  /// `changes` are durable. No such event comes after this.
  std::vector<AccountNumber> settled(std::span<const event::ResolvedEvent* const> changes) const;

 private:
  template <class Key, class Value>
  using Map = boost::unordered_flat_map<Key, Value, boost::hash<Key>>;

  /// The newest revision of an account that is not news.
  Map<AccountNumber, std::uint64_t> old_;
  /// The stored head of the account's repository.
  Map<AccountNumber, std::uint64_t> heads_;
  Map<RecordKey, std::uint64_t> tombstones_;
  Map<RecordKey, std::uint64_t> records_;
};

/// Writes records of history, many thousands in a transaction. The steps of a transaction are:
///
///   1. locks of the accounts
///   2. a check of which jobs this process still leases
///   3. the minimum revisions, tombstones and rows that hold records back
///   4. COPY of records without a row into their table, and of others into a table of the session
///   5. a merge of the session's table into the records' table
///
/// Like the RowWriter, the BulkWriter is idempotent because of revisions, tombstones and minimum
/// revisions. The final rows are the same if live events come before, between or after. A row that
/// already has the same record stays unchanged, unless live events of the account lag behind its
/// CAR. In that case the row gets the revision of the CAR, so that an older record cannot replace
/// it. The BulkWriter has no state. The worker that owns the session calls it.
class BulkWriter {
 public:
  /// `sources` has the names of the sources, for dead letters.
  explicit BulkWriter(SourceNames sources) : sources_(std::move(sources)) {}

  using Events = std::span<const event::ResolvedEvent* const>;

  struct Outcome {
    std::size_t rows = 0;       // rows whose content was inserted or changed
    std::size_t unchanged = 0;  // records that were already stored, or held back
    std::size_t held_back = 0;  // records older than the known state of the account or the record
    std::size_t lost = 0;       // records whose job was cancelled, or is leased by another owner
    std::size_t dead_letters = 0;
    /// The events of posts whose CIDs are the first CIDs of the posts (Effects::first_version).
    std::vector<const event::ResolvedEvent*> first_versions;
  };

  /// Writes creates and rejections of one record type and any accounts. The events are resolved,
  /// and each record key occurs once. `lease_numbers` has the lease number of the job of each event
  /// (see Chunk), or 0 for an event without a job. It is empty if no event has a job. If a job is
  /// no longer running under this lease, its events are not written, because deletes are remembered
  /// only while the job runs. The rows of the jobs stay locked until the commit. Throws
  /// postgres::SqlError, and then nothing is written.
  Outcome write(postgres::Session& session, Events events, Timestamp now,
                std::span<const std::int64_t> lease_numbers = {}) const;

 private:
  SourceNames sources_;
};

}  // namespace skua::writer
