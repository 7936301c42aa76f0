#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "writer/in_flight.hpp"

namespace skua::sources {

/// The ids under which Tap sent what is in flight, until they are acknowledged: an id leaves when
/// all events of its message are durable, together with those that became so in the same batch.
/// Any thread.
///
/// Ids mean something within one connection only: a Tap that was started again counts from 1. What
/// a connection has not acknowledged when it ends is forgotten; Tap sends it again.
class AckLedger {
 public:
  using Ticket = writer::InFlightList::Ticket;
  /// Takes ids to be acknowledged, and returns how many, from the first on. It is called under the
  /// ledger's lock, so that no id gets into the next connection: it may neither wait nor call back.
  using Send = std::function<std::size_t(std::span<const std::int64_t>)>;

  explicit AckLedger(Send send) : send_(std::move(send)) {}

  /// A message that was admitted, before it can finish.
  void expect(Ticket ticket, std::int64_t id);

  /// These have finished, and what can be acknowledged is. Tickets that are not expected, of an
  /// earlier connection or of another source, are passed over.
  void finished(std::span<const Ticket> tickets);

  /// Offers again what was not taken: when there is room.
  void flush();

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
