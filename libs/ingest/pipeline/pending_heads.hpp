#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/seeded_hash.hpp"
#include "pipeline/in_flight.hpp"
#include "tables/repository_table.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::pipeline {

/// Heads of repositories that are verified and not stored yet. They are stored with the cursor, for
/// finished frames only. Therefore a head in `skua.repositories` is never newer than the rows and
/// never older than the cursor. Any thread may use it.
class PendingHeads {
 public:
  using Ticket = InFlightList::Ticket;

  /// Adds the head of a repository after the frame of this ticket. `continuity` tells how the frame
  /// followed the former head. It is Next for messages that are not commits. Call it before the
  /// frame can finish, for each DID in the order of its frames.
  void add(Ticket ticket, const tables::RepositoryRow& row, verify::Continuity continuity);

  /// Adds a gap: the frame of this ticket was not applied in full, so its repository must wait for
  /// a resync. Call it before the frame finishes.
  void add_gap(Ticket ticket, tables::Gap gap);

  /// Returns the newest pending head of a DID, or nothing if the stored head is the newest.
  std::optional<tables::RepositoryRow> newest(std::string_view did) const;

  /// Returns the heads from frames before this ticket: one for each DID, sorted by DID. They stay
  /// pending until `stored`, so that a failed save loses nothing. One thread calls `collect`,
  /// `collect_gaps` and `stored`.
  const std::vector<tables::RepositoryProgress>& collect(Ticket end);
  /// Returns the gaps in frames before this ticket: one for each DID, sorted by DID.
  const std::vector<tables::Gap>& collect_gaps(Ticket end);
  void stored();

 private:
  struct Entry {
    Ticket ticket = 0;
    tables::RepositoryRow row;
    verify::Continuity continuity = verify::Continuity::Next;
  };
  struct Newest {
    Ticket ticket = 0;
    tables::RepositoryRow row;
  };

  /// The entries of each DID are in the order of its tickets.
  std::vector<Entry> entries_;
  std::vector<std::pair<Ticket, tables::Gap>> gaps_;
  boost::unordered_flat_map<std::string, Newest, SeededHash> newest_;
  mutable std::mutex mutex_;
  std::vector<tables::RepositoryProgress> collected_;
  std::vector<tables::Gap> collected_gaps_;
  Ticket collected_end_ = 0;
};

}  // namespace skua::pipeline
