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

/// The faults that are still to come, planned or by chance. Each planned one happens once in the
/// life of the simulator, so that a client that comes back gets past it. Chance is seeded: the same
/// questions get the same answers. Who takes a fault out does it. One thread.
class FaultPlan {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `start`: what planned times and rates count from.
  FaultPlan(std::vector<PlannedFault> planned, const std::vector<FaultRate>& rates,
            std::uint64_t seed, TimePoint start);

  /// Adds a fault that happens `count` times, from now on.
  void add(const Fault& fault, std::size_t count);

  /// What falls on the frame that is about to be sent to a connection, in the order it was given.
  /// `number` counts from 1.
  std::vector<Fault> take_for_frame(std::uint64_t number, std::optional<std::int64_t> seq,
                                    TimePoint now);
  /// What befalls the stream now that it has so many messages and this seq. Without `by_chance`
  /// only what was planned.
  std::vector<Fault> take_for_stream(std::uint64_t number, std::optional<std::int64_t> seq,
                                     TimePoint now, bool by_chance);
  /// Whether a request is to be refused, and how.
  std::optional<Fault> take_for_request(TimePoint now);
  /// The same of a question to the DNS server.
  std::optional<Fault> take_for_question(TimePoint now);
  /// What befalls a download, one of a kind at most.
  std::vector<Fault> take_for_download(TimePoint now);

  /// Counts a fault that was done without having been planned.
  void note_done(FaultKind kind) { ++done_[kind]; }
  /// Puts back what could not be done yet.
  void postpone(const Fault& fault);

  /// A number below `count`, which is above 0, by chance.
  std::size_t pick(std::size_t count);

  /// How many of each kind were done.
  const std::map<FaultKind, std::size_t>& done() const { return done_; }

 private:
  struct Recurring {
    Fault fault;
    double rate;
    TimePoint next;  // not used where faults strike answers
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
