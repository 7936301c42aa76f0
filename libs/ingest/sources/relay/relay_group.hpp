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
/// the positions are derived as follows:
///
///   time t: a live frame of a standby has seq s. The standby has sent everything up to s.
///   time t + margin: a live frame of the active relay has seq a. The active relay has now sent
///       everything up to s of the standby, too, because the margin is longer than the propagation
///       skew between relays.
///   When everything up to a of the active relay is durable, everything up to s of the standby is
///       durable, too.
///
/// The method relies on the local clock only, and holds however much the active relay lags. The
/// class does no I/O. One thread uses it.
class StandbyPositions {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  /// `margin` is the maximum propagation skew between relays.
  StandbyPositions(std::size_t relays, Duration margin);

  /// Reports that a live frame of a standby, received `now`, has the number `seq`.
  void seen(std::size_t relay, std::int64_t seq, TimePoint now);

  /// Whether a position waits for the number of the active relay.
  bool wants_head(TimePoint now) const;
  /// Reports that a probe of the active relay, started at `asked_at`, received `seq`.
  void head(std::int64_t seq, TimePoint asked_at);

  /// Reports that everything up to `seq` of the active relay is durable. Returns the newest
  /// position of `relay` that is therefore durable, or nothing if there is no newer position than
  /// before.
  std::optional<std::int64_t> durable(std::size_t relay, std::int64_t seq);

  /// Returns the oldest position of a relay in this run, if no position is known to be durable.
  std::optional<std::int64_t> oldest_seen(std::size_t relay) const;

  /// Forgets the positions that wait. They cannot be confirmed any more, because another relay is
  /// active, or the active relay has reset its sequence numbers.
  void forget_waiting();
  /// Forgets the positions of a relay, because it has reset its sequence numbers.
  void forget(std::size_t relay);

 private:
  struct Position {
    std::int64_t seq = 0;
    TimePoint at;
    /// The sequence number of the active relay up to which everything must be durable first.
    std::optional<std::int64_t> head;
  };
  struct Relay {
    std::deque<Position> waiting;  // the oldest first
    std::optional<std::int64_t> oldest;
  };

  const Duration margin_;
  std::vector<Relay> relays_;
};

/// Manages the relays that stand by for the relay that is read (docs/adr/0003): probes them, keeps
/// the cursor of each, and lets another relay take over when the active relay fails. It works on a
/// thread of its own, every 100 ms. One thread owns and calls it.
class RelayGroup {
 public:
  struct Options {
    FailOver::Options fail_over;
    /// The margin of StandbyPositions.
    std::chrono::milliseconds margin = std::chrono::minutes(2);
    /// The file of certificates for probes.
    std::string ca_file;
  };

  /// All arguments outlive the group.
  RelayGroup(postgres::Runtime& runtime, Options options, SourceReaders& readers,
             pipeline::Pipeline& pipeline, pipeline::CursorSaver& cursor_saver);

  void start();
  /// Ends the thread and the probes. Idempotent.
  void stop();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Relay {
    std::unique_ptr<RelayProbe> probe;
    /// The watermark of the active relay at the start of the probe.
    std::int64_t watermark_then = 0;
    /// The number of probes in a row that have found a lower number than the known one.
    int lower_numbers = 0;
    /// The time at which a probe got its first answer.
    std::optional<Timestamp> first_seen;
    bool was_read = false;
    /// Whether the relay has reset its sequence numbers since it was read.
    bool was_reset = false;
  };

  void run(const std::stop_token& stop);
  void tick(TimePoint now);
  void watch_active(TimePoint now);
  /// Advances the cursors of the other relays as far as the durable position of the active relay
  /// permits.
  void confirm_positions();
  void probe(TimePoint now);
  bool wants_probe(std::size_t relay, TimePoint now);
  void take_answer(std::size_t relay, const RelayProbe::Answer& answer, TimePoint begun_at,
                   TimePoint now);
  /// Compares the sequence number of a relay with the known position. Returns false if the number
  /// is lower, so that it cannot be used.
  bool check_number(std::size_t relay, std::int64_t seq);
  void switch_to(std::size_t relay);
  void remember_counters();

  /// Returns the position up to which the events of a relay are known to be durable or in flight,
  /// or nothing if no position is known.
  std::optional<std::int64_t> known_position(std::size_t relay) const;
  /// Returns the position from which a relay that takes over is read. Nothing means live.
  std::optional<std::int64_t> position_to_read_from(std::size_t relay) const;

  postgres::Runtime& runtime_;
  const Options options_;
  SourceReaders& readers_;
  pipeline::Pipeline& pipeline_;
  pipeline::CursorSaver& cursor_saver_;
  const Clock& clock_;
  // Only the group's thread uses these members.
  FailOver fail_over_;
  StandbyPositions positions_;
  std::vector<Relay> relays_;
  // The counts of the active relay at the last tick.
  std::uint64_t heard_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t restarts_ = 0;
  TimePoint asked_active_at_;

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace skua::sources
