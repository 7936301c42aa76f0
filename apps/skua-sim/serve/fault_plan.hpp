#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "fault.hpp"

namespace skua::sim {

/// The pending faults, planned or random. Each planned fault happens once in the life of the
/// simulator, so that a client that reconnects gets past it. Randomness is seeded: the same calls
/// get the same faults. The caller that takes a fault must carry it out. One thread.
class FaultPlan {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `start`: planned times and rates count from this time.
  FaultPlan(std::vector<PlannedFault> planned, const std::vector<FaultRate>& rates,
            std::uint64_t seed, TimePoint start);

  /// Adds a fault that happens `count` times, from now on.
  void add(const Fault& fault, std::size_t count);

  /// The faults for the frame that is about to be sent to a connection, in the order of their
  /// definition. `number` counts from 1.
  std::vector<Fault> take_for_frame(std::uint64_t number, std::optional<std::int64_t> seq,
                                    TimePoint now);
  /// The faults of the stream now that it has `number` messages and this seq. Without `by_chance`
  /// only planned ones.
  std::vector<Fault> take_for_stream(std::uint64_t number, std::optional<std::int64_t> seq,
                                     TimePoint now, bool by_chance);
  /// The fault for a request; nothing: serve it normally. `asks_status`: for the status of an
  /// account.
  std::optional<Fault> take_for_request(bool asks_status, TimePoint now);
  /// The faults for a download, at most one of each kind.
  std::vector<Fault> take_for_download(TimePoint now);

  /// Counts a fault that happened without having been planned.
  void note_done(FaultKind kind) { ++done_[kind]; }
  /// Returns a fault that cannot be carried out yet.
  void postpone(const Fault& fault);

  /// A random number below `count`, which must be above 0.
  std::size_t pick(std::size_t count);

  /// The number of faults that happened, by kind.
  const std::map<FaultKind, std::size_t>& done() const { return done_; }

 private:
  struct Recurring {
    Fault fault;
    double rate;
    TimePoint next;  // unused for faults of answers
  };

  bool is_due(const PlannedFault& planned, std::uint64_t number, std::optional<std::int64_t> seq,
              TimePoint now) const;
  std::vector<Fault> take_due(FaultScope scope, std::uint64_t number,
                              std::optional<std::int64_t> seq, TimePoint now);
  std::optional<Fault> take_one(FaultScope scope, TimePoint now);
  void take_by_chance(FaultScope scope, TimePoint now, std::vector<Fault>& taken);
  TimePoint next_after(TimePoint moment, double rate);
  void count(const std::vector<Fault>& taken);

  std::vector<PlannedFault> planned_;
  std::vector<Recurring> recurring_;
  std::mt19937_64 random_;
  const TimePoint start_;
  std::map<FaultKind, std::size_t> done_;
};

}  // namespace skua::sim
