#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "ingest/cursor_saver.hpp"
#include "ingest/pipeline.hpp"
#include "sources/relay/fail_over.hpp"
#include "sources/relay/relay_probe.hpp"
#include "sources/relay/standby_positions.hpp"
#include "sources/source_readers.hpp"

namespace skua::sources {

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
  RelayGroup(store::Runtime& runtime, Options options, SourceReaders& readers,
             ingest::Pipeline& pipeline, ingest::CursorSaver& cursor_saver);

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

  store::Runtime& runtime_;
  const Options options_;
  SourceReaders& readers_;
  ingest::Pipeline& pipeline_;
  ingest::CursorSaver& cursor_saver_;
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
