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
#include "store/repository_table.hpp"
#include "verify/commit_verifier.hpp"
#include "writer/in_flight.hpp"

namespace skua::ingest {

/// What verification found out of repositories and is not stored yet. It is stored with the cursor,
/// as far as frames have finished: what `skua.repositories` says of a repository is never ahead of
/// its rows, and never behind the cursor. Any thread.
class PendingHeads {
 public:
  using Ticket = writer::InFlightList::Ticket;

  /// Where a repository stands after the frame of this ticket, and how the frame followed what was
  /// known; Next where it is no message of the repository's own. Before the frame can finish; one
  /// DID in the order of its frames.
  void add(Ticket ticket, const store::RepositoryRow& row, verify::Continuity continuity);

  /// The frame of this ticket was dropped without a look at what it says: the repository is to wait
  /// for a resync, whatever else is known of it. Before the frame finishes.
  void add_gap(Ticket ticket, std::string did);

  /// The newest of a DID that is not stored yet; nothing: what is stored is newest.
  std::optional<store::RepositoryRow> newest(std::string_view did) const;

  /// All from frames before this ticket, folded to one a DID, sorted by DID. It stays here until
  /// `stored`, so that a failed save loses nothing. One thread calls these three.
  const std::vector<store::RepositoryProgress>& collect(Ticket end);
  /// The DIDs with a gap from frames before this ticket, likewise.
  const std::vector<std::string>& collect_gaps(Ticket end);
  void stored();

 private:
  struct Entry {
    Ticket ticket = 0;
    store::RepositoryRow row;
    verify::Continuity continuity = verify::Continuity::Next;
  };
  struct Newest {
    Ticket ticket = 0;
    store::RepositoryRow row;
  };

  /// Each DID's in the order of its tickets.
  std::vector<Entry> entries_;
  std::vector<std::pair<Ticket, std::string>> gaps_;
  boost::unordered_flat_map<std::string, Newest, SeededHash> newest_;
  mutable std::mutex mutex_;
  std::vector<store::RepositoryProgress> collected_;
  std::vector<std::string> collected_gaps_;
  Ticket collected_end_ = 0;
};

}  // namespace skua::ingest
