#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "pipeline/cursor_saver.hpp"
#include "pipeline/pipeline.hpp"
#include "sources/relay/fail_over.hpp"
#include "sources/source_readers.hpp"

namespace skua::sources {

/// Finds cursors for the relays that are not read. Each relay has sequence numbers of its own, so
/// the positions are derived:
///
///   time t: a live frame of a standby has seq s. The standby has sent everything up to s.
///   time t + margin: the active relay has sent all these events too, because the margin is longer
///       than the propagation skew between relays. A live frame of the active relay has seq a.
///   When everything up to a of the active relay is durable, so is everything up to s of the
///   standby.
///
/// This relies on the local clock only, and holds however much the active relay lags. No I/O; one
/// thread.
class StandbyPositions {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  /// `margin`: the maximum propagation skew between relays.
  StandbyPositions(std::size_t relays, Duration margin);

  /// A live frame of a standby, received `now`, has the number `seq`.
  void seen(std::size_t relay, std::int64_t seq, TimePoint now);

  /// Whether a position waits for the number of the active relay.
  bool wants_head(TimePoint now) const;
  /// A probe of the active relay, started at `asked_at`, received `seq`.
  void head(std::int64_t seq, TimePoint asked_at);

  /// Everything up to `seq` of the active relay is durable. Returns the newest position of `relay`
  /// that is therefore durable; nothing: none that was not known.
  std::optional<std::int64_t> durable(std::size_t relay, std::int64_t seq);

  /// The oldest position of a relay in this run, if no position is known to be durable.
  std::optional<std::int64_t> oldest_seen(std::size_t relay) const;

  /// Another relay is active, or the active one has reset its sequence numbers: positions that wait
  /// cannot be confirmed any more.
  void forget_waiting();
  /// This relay has reset its sequence numbers.
  void forget(std::size_t relay);

 private:
  struct Position {
    std::int64_t seq = 0;
    TimePoint at;
    /// The number of the active relay that must be durable first.
    std::optional<std::int64_t> head;
  };
  struct Relay {
    std::deque<Position> waiting;  // the oldest first
    std::optional<std::int64_t> oldest;
  };

  const Duration margin_;
  std::vector<Relay> relays_;
};

/// Relays that stand by for the one that is read (docs/adr/0003): probes them, keeps the cursor of
/// each, and lets another take over when the active one fails. Works on a thread of its own, every
/// 100 ms. Owned and called by one thread.
class RelayGroup {
 public:
  struct Options {
    FailOver::Options fail_over;
    /// See StandbyPositions.
    std::chrono::milliseconds margin = std::chrono::minutes(2);
    /// For probes.
    std::string ca_file;
  };

  /// All outlive it.
  RelayGroup(postgres::Runtime& runtime, Options options, SourceReaders& readers,
             pipeline::Pipeline& pipeline, pipeline::CursorSaver& cursor_saver);

  void start();
  /// Ends the thread and the probes. Idempotent.
  void stop();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Relay {
    std::unique_ptr<RelayProbe> probe;
    /// The watermark when the probe began.
    std::int64_t watermark_then = 0;
    /// How many probes in a row have found a lower number than is known.
    int lower_numbers = 0;
    /// When a probe got its first answer.
    std::optional<Timestamp> first_seen;
    bool was_read = false;
    /// Its sequence numbers were reset since it was read.
    bool was_reset = false;
  };

  void run(const std::stop_token& stop);
  void tick(TimePoint now);
  void watch_active(TimePoint now);
  /// Advances the cursors of the others as far as the active one's is durable.
  void confirm_positions();
  void probe(TimePoint now);
  bool wants_probe(std::size_t relay, TimePoint now);
  void take_answer(std::size_t relay, const RelayProbe::Answer& answer, TimePoint begun_at,
                   TimePoint now);
  /// Compares a relay's number with the known one. False: it is lower, and cannot be used.
  bool check_number(std::size_t relay, std::int64_t seq);
  void switch_to(std::size_t relay);
  void remember_counters();

  /// Up to where a relay is known to be durable, or in flight; nothing: that is not known.
  std::optional<std::int64_t> known_position(std::size_t relay) const;
  /// Where to read a relay from that takes over; nothing: live.
  std::optional<std::int64_t> position_to_read_from(std::size_t relay) const;

  postgres::Runtime& runtime_;
  const Options options_;
  SourceReaders& readers_;
  pipeline::Pipeline& pipeline_;
  pipeline::CursorSaver& cursor_saver_;
  const Clock& clock_;
  // The thread's.
  FailOver fail_over_;
  StandbyPositions positions_;
  std::vector<Relay> relays_;
  // Of the active relay, at the last tick.
  std::uint64_t heard_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t restarts_ = 0;
  TimePoint asked_active_at_;

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace skua::sources
