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

/// What Tap has to say of one account, without the id that its outbox gives it.
struct TapEvent {
  std::string did;
  /// A barrier: it waits for all before it, and all behind it wait for it.
  bool live = false;
  /// `"type":"record","record":{...}`: what follows the id in the JSON object.
  std::string body;
};

/// The outbox of a Tap: numbers events, decides what may be sent, and keeps each until it is acked.
/// Per DID a live event is sent alone, after all before it were acked; historical ones are sent
/// side by side. No socket, no clock of its own. One thread.
class TapOutbox {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit TapOutbox(std::chrono::milliseconds retry_after) : retry_after_(retry_after) {}

  /// Returns its id.
  std::uint64_t add(TapEvent event, TimePoint now);

  bool has_next() const { return !outgoing_.empty(); }
  /// The next message, for whichever client asks. Only where `has_next`. A client that ends before
  /// it has it all gets nothing again before the retry.
  std::string next();
  /// The next message is sent twice.
  void repeat_next() { repeats_ += 1; }

  /// Idempotent; an id that is unknown does nothing. One that was not sent yet is taken as acked
  /// all the same, as Tap does, and counted.
  void ack(std::uint64_t id, TimePoint now);

  /// Called every `retry_after`: sends again what has been waiting for its ack for longer, and
  /// writes the acks to what stands for the database.
  void retry(TimePoint now);

  /// How the process ended before it began anew.
  enum class End : std::uint8_t {
    clean,    // all acks were written
    crash,    // acks of the last retry period or the last 1,000 were not: those events come again
    renumber  // as clean; what is left is numbered anew, from 1
  };
  /// Sends all again that is left. Ids go on from the highest that is left, from 1 when nothing is.
  void restart(End end, TimePoint now);
  /// Forgets what an account has in here.
  void forget(const std::string& did);

  struct Figures {
    std::uint64_t added = 0;
    std::uint64_t sent = 0;
    std::uint64_t redelivered = 0;
    std::uint64_t acked = 0;
    std::uint64_t acked_unknown = 0;
    std::uint64_t acked_unsent = 0;
    std::uint64_t restarts = 0;
  };
  const Figures& figures() const { return figures_; }
  std::uint64_t last_id() const { return last_id_; }
  std::size_t unacked() const { return entries_.size(); }
  std::size_t in_flight() const { return in_flight_.size(); }

  /// The oldest event that an account waits for.
  struct Stall {
    std::string did;
    std::uint64_t id = 0;
    bool live = false;
    std::size_t deliveries = 0;
    std::chrono::milliseconds since{0};
    /// Events that are not sent because of it.
    std::size_t waiting = 0;
  };
  /// Accounts with an event that has been in flight for at least so long, by DID.
  std::vector<Stall> stalls(std::chrono::milliseconds at_least, TimePoint now) const;

 private:
  struct Entry {
    std::shared_ptr<const TapEvent> event;
    TimePoint sent_at;
    std::size_t deliveries = 0;
    bool queued = false;  // stands in `outgoing_`
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

  /// Sends what may be sent of an account.
  void go_on(Account& account, TimePoint now);
  void push(std::uint64_t id, Entry& entry);
  void drop(const std::string& did, std::uint64_t id, TimePoint now);

  const std::chrono::milliseconds retry_after_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Entry> entries_;
  std::map<std::string, Account> accounts_;
  std::set<std::uint64_t> in_flight_;
  std::deque<Outgoing> outgoing_;
  /// Acked, and not yet gone from the database.
  std::map<std::uint64_t, std::shared_ptr<const TapEvent>> unwritten_;
  std::size_t repeats_ = 0;
  Figures figures_;
};

}  // namespace skua::sim
