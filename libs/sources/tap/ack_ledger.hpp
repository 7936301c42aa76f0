#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ingest/in_flight.hpp"

namespace skua::sources {

/// The ids of a Tap's messages that are in flight, until they are acknowledged. An id is sent back
/// when all events of its message are durable. Any thread.
///
/// Ids are valid within one connection: a Tap that restarts counts from 1 again. When a connection
/// ends, its ids are forgotten; Tap sends these messages again.
class AckLedger {
 public:
  using Ticket = ingest::InFlightList::Ticket;
  /// Sends acknowledgements, and returns how many of the ids were taken, from the first on. It is
  /// called under the ledger's lock, so that no id gets into the next connection: it must neither
  /// wait nor call the ledger.
  using Send = std::function<std::size_t(std::span<const std::int64_t>)>;

  explicit AckLedger(Send send) : send_(std::move(send)) {}

  /// Adds an admitted message, before it can finish.
  void expect(Ticket ticket, std::int64_t id);

  /// These messages are durable: acknowledges them, and the ids that were refused before. Ignores
  /// tickets of earlier connections and of other sources.
  void finished(std::span<const Ticket> tickets);

  /// Before the next connection begins.
  void connection_ended();

  struct Counters {
    std::size_t unfinished = 0;
    /// Finished, but not taken yet. Eight bytes each; a connection that takes none for long ends.
    std::size_t refused = 0;
    std::uint64_t acknowledged = 0;
    /// Forgotten with their connection.
    std::uint64_t forgotten = 0;
  };
  Counters metrics() const;

 private:
  void send();

  const Send send_;
  mutable std::mutex mutex_;
  boost::unordered_flat_map<Ticket, std::int64_t> ids_;
  std::vector<std::int64_t> ready_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace skua::sources
