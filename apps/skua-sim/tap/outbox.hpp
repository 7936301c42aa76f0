#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace skua::sim {

/// An event of Tap about one account, without the id that its outbox assigns.
struct TapEvent {
  std::string did;
  /// A live event is a barrier: it waits for all events before it, and all events after it wait for
  /// it.
  bool live = false;
  /// The part of the JSON object after the id: `"type":"record","record":{...}`.
  std::string body;
};

/// The outbox of a Tap: numbers events, decides which may be sent, and keeps each event until it is
/// acked. For each DID a live event is sent alone, after all earlier events were acked; historical
/// events are sent in parallel. Has no socket and no clock of its own. One thread.
class TapOutbox {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit TapOutbox(std::chrono::milliseconds retry_after) : retry_after_(retry_after) {}

  /// Adds an event and returns its id.
  std::uint64_t add(TapEvent event, TimePoint now);

  bool has_next() const { return !outgoing_.empty(); }
  /// Returns the next message, for any client. Requires `has_next`. If a client ends before it has
  /// received the message, the message is sent again after the retry time.
  std::string next();
  /// Lets the next message be sent twice.
  void repeat_next() { repeats_ += 1; }

  /// Acks an event. Idempotent; an unknown id has no effect. An event that was not sent yet counts
  /// as acked, as in Tap, and is counted.
  void ack(std::uint64_t id, TimePoint now);

  /// Resends events that have been unacked for longer than `retry_after`, and stores the acks in
  /// the simulated database. To be called every `retry_after`.
  void retry(TimePoint now);

  /// The way in which the process ended before its restart.
  enum class End : std::uint8_t {
    clean,    // all acks were written
    crash,    // acks of the last retry period or the last 1,000 were lost: those events are sent
              // again
    renumber  // like clean; the remaining events are renumbered from 1
  };
  /// Restarts the outbox and resends all remaining events. Ids continue from the highest remaining
  /// id, or from 1 if no event remains.
  void restart(End end, TimePoint now);
  /// Removes all events of an account.
  void forget(const std::string& did);

  struct Counts {
    std::uint64_t added = 0;
    std::uint64_t sent = 0;
    std::uint64_t redelivered = 0;
    std::uint64_t acked = 0;
    std::uint64_t acked_unknown = 0;
    std::uint64_t acked_unsent = 0;
    std::uint64_t restarts = 0;
  };
  const Counts& counts() const { return counts_; }
  std::uint64_t last_id() const { return last_id_; }
  std::size_t unacked() const { return entries_.size(); }
  std::size_t in_flight() const { return in_flight_.size(); }

  /// The oldest event that blocks an account.
  struct Stall {
    std::string did;
    std::uint64_t id = 0;
    bool live = false;
    std::size_t deliveries = 0;
    std::chrono::milliseconds since{0};
    /// The number of events that wait for the blocking event.
    std::size_t waiting = 0;
  };
  /// Returns the accounts with an event that has been in flight for at least this time, by DID.
  std::vector<Stall> stalls(std::chrono::milliseconds at_least, TimePoint now) const;

 private:
  struct Entry {
    std::shared_ptr<const TapEvent> event;
    TimePoint sent_at;
    std::size_t deliveries = 0;
    bool queued = false;  // is in `outgoing_`
  };
  struct Account {
    std::deque<std::uint64_t> waiting;
    std::set<std::uint64_t> in_flight;
    bool live_in_flight = false;
  };
  struct Outgoing {
    std::uint64_t id = 0;
    std::shared_ptr<const TapEvent> event;
  };

  /// Sends the events of an account that may be sent now.
  void go_on(Account& account, TimePoint now);
  void push(std::uint64_t id, Entry& entry);
  void drop(const std::string& did, std::uint64_t id, TimePoint now);

  const std::chrono::milliseconds retry_after_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Entry> entries_;
  std::map<std::string, Account> accounts_;
  std::set<std::uint64_t> in_flight_;
  std::deque<Outgoing> outgoing_;
  /// The events that are acked, but not yet removed from the simulated database.
  std::map<std::uint64_t, std::shared_ptr<const TapEvent>> unwritten_;
  std::size_t repeats_ = 0;
  Counts counts_;
};

}  // namespace skua::sim
