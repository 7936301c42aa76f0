#include "pipeline/parked_budget.hpp"

#include <algorithm>

namespace skua::pipeline {

ParkedBudget::Limits ParkedBudget::Limits::of(const InFlightList::Limits& in_flight,
                                              std::size_t decoders) {
  Limits limits;
  limits.all_bytes =
      std::max(in_flight.bytes / 4 / std::max<std::size_t>(decoders, 1), limits.account_bytes);
  limits.frames = in_flight.frames / 2;
  return limits;
}

void ParkedBudget::set(const std::string& did, std::size_t bytes, Ticket oldest) {
  erase(did);
  accounts_.emplace(did, Account{bytes, oldest});
  by_bytes_.emplace(bytes, did);
  by_age_.emplace(oldest, did);
  bytes_ += bytes;
}

void ParkedBudget::erase(const std::string& did) {
  const auto place = accounts_.find(did);
  if (place == accounts_.end()) return;
  by_bytes_.erase({place->second.bytes, did});
  by_age_.erase({place->second.oldest, did});
  bytes_ -= place->second.bytes;
  accounts_.erase(place);
}

std::optional<std::string> ParkedBudget::beyond(Ticket next) const {
  if (accounts_.empty()) return std::nullopt;
  const auto& [oldest, did_of_oldest] = *by_age_.begin();
  if (next - oldest > limits_.frames) return did_of_oldest;
  const auto& [most, did_of_most] = *by_bytes_.rbegin();
  if (most > limits_.account_bytes || bytes_ > limits_.all_bytes) return did_of_most;
  return std::nullopt;
}

}  // namespace skua::pipeline
