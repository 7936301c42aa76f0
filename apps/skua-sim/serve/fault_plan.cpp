#include "fault_plan.hpp"

#include <algorithm>
#include <utility>

namespace skua::sim {

FaultPlan::FaultPlan(std::vector<PlannedFault> planned, const std::vector<FaultRate>& rates,
                     std::uint64_t seed, TimePoint start)
    : planned_(std::move(planned)), random_(seed), start_(start) {
  for (const auto& [fault, rate] : rates) {
    const auto next = strikes_answers(fault_scope(fault.kind)) ? start : next_after(start, rate);
    recurring_.push_back({fault, rate, next});
  }
}

void FaultPlan::add(const Fault& fault, std::size_t count) {
  planned_.insert(planned_.end(), count, PlannedFault{fault, FaultMoment{}});
}

std::vector<Fault> FaultPlan::take_for_frame(std::uint64_t number, std::optional<std::int64_t> seq,
                                             TimePoint now) {
  auto taken = take_due(FaultScope::connection, number, seq, now);
  take_by_chance(FaultScope::connection, now, taken);
  count(taken);
  return taken;
}

std::vector<Fault> FaultPlan::take_for_stream(std::uint64_t number, std::optional<std::int64_t> seq,
                                              TimePoint now, bool by_chance) {
  auto taken = take_due(FaultScope::stream, number, seq, now);
  if (by_chance) take_by_chance(FaultScope::stream, now, taken);
  count(taken);
  return taken;
}

std::optional<Fault> FaultPlan::take_for_request(bool asks_status, TimePoint now) {
  if (asks_status) {
    if (auto fault = take_one(FaultScope::status, now)) return fault;
  }
  return take_one(FaultScope::request, now);
}

std::vector<Fault> FaultPlan::take_for_download(TimePoint now) {
  std::vector<Fault> taken;
  const auto is_taken = [&taken](FaultKind kind) {
    return std::ranges::find(taken, kind, &Fault::kind) != taken.end();
  };
  std::erase_if(planned_, [&](PlannedFault& planned) {
    const auto kind = planned.fault.kind;
    if (fault_scope(kind) != FaultScope::download || is_taken(kind)) return false;
    if (!is_due(planned, 0, std::nullopt, now)) return false;
    taken.push_back(std::move(planned.fault));
    return true;
  });
  std::vector<Fault> by_chance;
  take_by_chance(FaultScope::download, now, by_chance);
  for (auto& fault : by_chance) {
    if (!is_taken(fault.kind)) taken.push_back(std::move(fault));
  }
  count(taken);
  return taken;
}

void FaultPlan::postpone(const Fault& fault) {
  --done_[fault.kind];
  add(fault, 1);
}

std::size_t FaultPlan::pick(std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

/// A connection sees every frame after its start, so only the exact frame counts. The stream may
/// skip numbers, so the first number at or after the planned one counts.
bool FaultPlan::is_due(const PlannedFault& planned, std::uint64_t number,
                       std::optional<std::int64_t> seq, TimePoint now) const {
  const bool exactly = fault_scope(planned.fault.kind) == FaultScope::connection;
  switch (planned.when.unit) {
    case FaultMoment::Unit::frame: {
      const auto at = static_cast<std::uint64_t>(planned.when.at);
      return exactly ? number == at : number >= at;
    }
    case FaultMoment::Unit::seq:
      return seq && (exactly ? *seq == planned.when.at : *seq >= planned.when.at);
    case FaultMoment::Unit::time:
      return now - start_ >= planned.when.after;
  }
  return false;
}

/// Faults without a specific frame happen one per frame: a connection that is cut must not use up
/// the others.
std::vector<Fault> FaultPlan::take_due(FaultScope scope, std::uint64_t number,
                                       std::optional<std::int64_t> seq, TimePoint now) {
  std::vector<Fault> taken;
  bool has_timed = false;
  std::erase_if(planned_, [&](PlannedFault& planned) {
    if (fault_scope(planned.fault.kind) != scope || !is_due(planned, number, seq, now)) {
      return false;
    }
    const bool timed = planned.when.unit == FaultMoment::Unit::time;
    if (timed && has_timed && scope == FaultScope::connection) return false;
    has_timed = has_timed || timed;
    taken.push_back(std::move(planned.fault));
    return true;
  });
  return taken;
}

/// The first planned fault, or a random one.
std::optional<Fault> FaultPlan::take_one(FaultScope scope, TimePoint now) {
  std::vector<Fault> taken;
  for (auto planned = planned_.begin(); planned != planned_.end(); ++planned) {
    if (fault_scope(planned->fault.kind) != scope) continue;
    if (!is_due(*planned, 0, std::nullopt, now)) continue;
    taken.push_back(std::move(planned->fault));
    planned_.erase(planned);
    break;
  }
  if (taken.empty()) take_by_chance(scope, now, taken);
  if (taken.empty()) return std::nullopt;
  taken.resize(1);
  count(taken);
  return taken.front();
}

/// If no time-based fault was taken for a while, only one of the missed ones happens.
void FaultPlan::take_by_chance(FaultScope scope, TimePoint now, std::vector<Fault>& taken) {
  for (auto& recurring : recurring_) {
    if (fault_scope(recurring.fault.kind) != scope) continue;
    if (strikes_answers(scope)) {
      if (std::bernoulli_distribution(recurring.rate)(random_)) taken.push_back(recurring.fault);
      continue;
    }
    if (recurring.next > now) continue;
    while (recurring.next <= now) recurring.next = next_after(recurring.next, recurring.rate);
    taken.push_back(recurring.fault);
  }
}

FaultPlan::TimePoint FaultPlan::next_after(TimePoint moment, double rate) {
  const std::chrono::duration<double> wait(std::exponential_distribution<double>(rate)(random_));
  return moment + std::chrono::duration_cast<TimePoint::duration>(wait);
}

void FaultPlan::count(const std::vector<Fault>& taken) {
  for (const auto& fault : taken) ++done_[fault.kind];
}

}  // namespace skua::sim
