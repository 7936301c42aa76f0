#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "backfill/hosts/decaying_rate.hpp"
#include "backfill/hosts/host_outcome.hpp"
#include "base/time.hpp"
#include "transport/rate_limit.hpp"

namespace skua::backfill {

struct HostPaceOptions {
  /// Downloads at once of a host that nothing is known of.
  std::size_t at_first = 4;
  /// The number never grows beyond this.
  std::size_t at_most = 16;
  /// What a host asks for and what we come to ourselves: no wait is longer.
  std::chrono::seconds longest_wait = std::chrono::hours(1);
};

/// How many downloads of one host may be under way, and when the next may start. The number grows
/// by one with each fast answer until the first sign that the host has too much, and from then on
/// by one with as many fast answers as it is itself. Each such sign halves it.
/// Waits that the host asks for are kept; for those it does not name, ours double from 5 s to 5 min
/// (429) or from 2 s to 10 min (all else), and after one a single download at a time feels the way.
/// The last requests of a limit that the host states are spread (RateLimitSpacing).
///
/// No clock of its own, no I/O; one thread. Owned by HostLimits.
class HostPace {
 public:
  explicit HostPace(const HostPaceOptions& options);

  /// How many may start now.
  std::size_t free(Timestamp now) const;
  /// When some may start without anything else happening; nothing when they may now, or when one
  /// must finish first.
  std::optional<Timestamp> next_start(Timestamp now) const;

  void started(Timestamp now);
  /// Once for each that was started; throws std::logic_error otherwise.
  void finished(const HostOutcome& outcome, Timestamp now);

  std::size_t under_way() const { return under_way_; }
  /// How many may be under way when no wait is on.
  std::size_t at_once() const;
  /// Since when there is nothing under way and no wait; later than `now` while there is a wait,
  /// nothing while something is under way.
  std::optional<Timestamp> idle_since() const;

  std::uint64_t repositories() const { return repositories_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t failures() const { return failures_; }
  /// Of the last minute, about.
  double repositories_per_second(Timestamp now) const { return rate_.per_second(now); }
  /// Empty: none yet.
  const std::string& last_error() const { return last_error_; }

 private:
  void count(const HostOutcome& outcome, Timestamp now);
  void obey(const HostOutcome& outcome, Timestamp now);
  void grow(const HostOutcome& outcome);
  void shrink(HostOutcome::End end, Timestamp now);
  void back_off(std::chrono::seconds first, std::chrono::seconds longest, Timestamp now);
  void wait(std::chrono::seconds duration, Timestamp now);

  const HostPaceOptions options_;
  std::size_t under_way_ = 0;
  double at_once_;
  Timestamp not_before_;
  /// How often the wait of ours has doubled; each answer takes one off.
  int steps_ = 0;
  /// The last outcome that counts was End::Failed.
  bool failed_last_ = false;
  /// The epoch: not yet.
  Timestamp shrunk_at_;
  /// When as many were under way as may be.
  Timestamp used_up_at_;

  transport::RateLimitSpacing spacing_;
  Timestamp last_start_;
  Timestamp last_finish_;

  std::uint64_t repositories_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t failures_ = 0;
  DecayingRate rate_;
  std::string last_error_;
};

}  // namespace skua::backfill
