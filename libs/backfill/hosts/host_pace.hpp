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
  /// The concurrency limit of a new host.
  std::size_t at_first = 4;
  /// The highest concurrency limit.
  std::size_t at_most = 16;
  /// The longest wait, whether the host asks for it or not.
  std::chrono::seconds longest_wait = std::chrono::hours(1);
};

/// The concurrency limit of one host, and when its next download may start. The limit grows by one
/// with each fast answer until the first sign of overload; from then on it grows by one after as
/// many fast answers as the limit. Each sign of overload halves it. Waits that the host asks for
/// are observed. Without a stated time the wait doubles from 5 s to 5 min (429) or from 2 s to 10
/// min (other errors); after a wait one download is active at a time. The last requests before a
/// stated limit are spread over time (RateLimitSpacing).
///
/// No clock of its own, no I/O; one thread. Owned by HostLimits.
class HostPace {
 public:
  explicit HostPace(const HostPaceOptions& options);

  /// How many downloads may start now.
  std::size_t free(Timestamp now) const;
  /// When downloads may start after a wait; nothing: they may start now, or one must finish first.
  std::optional<Timestamp> next_start(Timestamp now) const;

  void started(Timestamp now);
  /// Once for each started download; throws std::logic_error otherwise.
  void finished(const HostOutcome& outcome, Timestamp now);

  std::size_t under_way() const { return under_way_; }
  /// The concurrency limit without a wait.
  std::size_t at_once() const;
  /// Since when there has been no active download and no wait; later than `now` during a wait;
  /// nothing: a download is active.
  std::optional<Timestamp> idle_since() const;

  std::uint64_t repositories() const { return repositories_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t failures() const { return failures_; }
  /// Averaged over about the last minute.
  double repositories_per_second(Timestamp now) const { return rate_.per_second(now); }
  /// Empty: no error so far.
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
  /// How often the wait has doubled; each answer subtracts one.
  int steps_ = 0;
  /// The last outcome that concerns the host was End::Failed.
  bool failed_last_ = false;
  /// The epoch: never.
  Timestamp shrunk_at_;
  /// When as many downloads were active as the limit allows.
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
