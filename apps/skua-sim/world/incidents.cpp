#include "world/incidents.hpp"

#include <algorithm>

namespace skua::sim {

// The numbers are shares of the steps if `oddities` is 1.
const std::array<Incidents::Kind, 22> Incidents::kKinds = {{
    {"many_ops", 5.0, &Incidents::many_ops},
    {"delete_and_create", 4.0, &Incidents::delete_and_create, true},
    {"create_and_delete", 3.0, &Incidents::create_and_delete, true},
    {"update_twice", 3.0, &Incidents::update_twice, true},
    {"delete_then_create", 4.0, &Incidents::delete_then_create},
    {"no_ops", 3.0, &Incidents::no_ops},
    {"stand_still", 2.0, &Incidents::stand_still},
    {"broken_record", 8.0, &Incidents::broken_record},
    {"nul_in_text", 3.0, &Incidents::nul_in_text},
    {"year_one", 2.0, &Incidents::year_one},
    {"odd_key", 5.0, &Incidents::odd_key},
    {"repeat_identity", 2.0, &Incidents::repeat_identity},
    {"repeat_account", 2.0, &Incidents::repeat_account},
    {"change_handle", 3.0, &Incidents::change_handle},
    {"take_handle", 1.0, &Incidents::take_handle},
    {"rotate_key", 2.0, &Incidents::rotate_key},
    {"move", 2.0, &Incidents::move},
    {"deactivate", 2.0, &Incidents::deactivate},
    {"suspend", 1.0, &Incidents::suspend},
    {"take_down", 1.0, &Incidents::take_down},
    {"leave_for_good", 0.2, &Incidents::leave_for_good},
    {"someone_joins", 0.3, &Incidents::someone_joins},
}};

std::optional<std::size_t> Incidents::happen(Timestamp now) {
  constexpr double kMostlyOrdinary = 0.5;
  ++steps_;
  if (auto events = happen_if_due(now)) return events;
  if (oddities_ <= 0) return std::nullopt;
  std::array<double, kKinds.size()> weights{};
  double per_thousand = 0;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (one_op_a_path_ && kKinds[i].repeats_path) continue;
    weights[i] = kKinds[i].per_thousand;
    per_thousand += weights[i];
  }
  const double share = std::min(per_thousand * oddities_ / 1000, kMostlyOrdinary);
  if (!world_.random.chance(share)) return std::nullopt;
  Account* const account = world_.population.random_active(world_.random);
  if (account == nullptr) return join(now);
  if (!account->introduced) return world_.activity.act(*account, now);
  return (this->*kKinds[world_.random.weighted(weights)].happen)(*account, now);
}

std::optional<std::size_t> Incidents::cause(std::string_view name, Timestamp now) {
  const auto kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& one) { return one.name == name; });
  if (kind == kKinds.end()) return std::nullopt;
  Account* const account = world_.population.random_active(world_.random);
  if (account == nullptr || !account->introduced) return 0;
  return (this->*kind->happen)(*account, now);
}

std::optional<std::size_t> Incidents::happen_if_due(Timestamp now) {
  if (sequels_.empty() || sequels_.begin()->first > steps_) return std::nullopt;
  const Sequel sequel = sequels_.begin()->second;
  sequels_.erase(sequels_.begin());
  Account& account = world_.population.at(sequel.account);
  if (account.status == AccountStatus::deleted) return std::nullopt;
  if (sequel.left_host) {
    if (*sequel.left_host == account.host) return std::nullopt;
    world_.announcements.left(account, *sequel.left_host, now);
    return 1;
  }
  if (account.status == AccountStatus::active) return std::nullopt;
  world_.population.set_status(account, AccountStatus::active);
  world_.announcements.account(account, now);
  world_.announcements.sync(account, now);
  return 1;
}

void Incidents::later(std::size_t least, std::size_t most, Sequel sequel) {
  sequels_.emplace(steps_ + world_.random.between(least, most), sequel);
}

std::size_t Incidents::repeat_identity(Account& account, Timestamp now) {
  world_.announcements.identity(account, now);
  return 1;
}

std::size_t Incidents::repeat_account(Account& account, Timestamp now) {
  world_.announcements.account(account, now);
  return 1;
}

std::size_t Incidents::change_handle(Account& account, Timestamp now) {
  world_.population.change_handle(account, world_.population.fresh_handle(account.host), now);
  world_.announcements.identity(account, now);
  return 1;
}

/// Gives the account another account's handle. The document of the other account still claims the
/// handle.
std::size_t Incidents::take_handle(Account& account, Timestamp now) {
  const Account& other = *world_.population.random_active(world_.random);
  if (other.did == account.did || !world_.population.handle_valid(other)) return 0;
  world_.population.change_handle(account, std::string(other.handle), now);
  world_.announcements.identity(account, now);
  return 1;
}

/// Replaces the signing key. The old key's signature on the head is no longer valid, so the host
/// signs a new head.
std::size_t Incidents::rotate_key(Account& account, Timestamp now) {
  world_.population.rotate_key(account, now);
  world_.announcements.identity(account, now);
  return 1 + world_.activity.commit(account, {}, now);
}

std::size_t Incidents::move(Account& account, Timestamp now) {
  const std::size_t hosts = world_.population.hosts();
  if (hosts < 2) return 0;
  const std::size_t old_host = account.host;
  const std::size_t new_host = (old_host + world_.random.between(1, hosts - 1)) % hosts;
  world_.population.move(account, new_host, now);
  world_.announcements.identity(account, now);
  world_.announcements.account(account, now);
  later(3, 40, {account.number, old_host});
  return 2 + world_.activity.commit(account, {}, now);
}

std::size_t Incidents::make_inactive(Account& account, AccountStatus status, Timestamp now) {
  // One account must stay active. A labeler must stay too, because readers may discard the labels
  // of a deleted labeler.
  if (account.label_key) return 0;
  if (world_.population.active() * 2 <= world_.population.size()) return 0;
  world_.population.set_status(account, status);
  world_.announcements.account(account, now);
  if (status != AccountStatus::deleted) later(20, 400, {account.number, std::nullopt});
  return 1;
}

std::size_t Incidents::deactivate(Account& account, Timestamp now) {
  return make_inactive(account, AccountStatus::deactivated, now);
}

std::size_t Incidents::suspend(Account& account, Timestamp now) {
  return make_inactive(account, AccountStatus::suspended, now);
}

std::size_t Incidents::take_down(Account& account, Timestamp now) {
  return make_inactive(account, AccountStatus::takendown, now);
}

std::size_t Incidents::leave_for_good(Account& account, Timestamp now) {
  const std::size_t events = make_inactive(account, AccountStatus::deleted, now);
  if (events > 0) world_.population.release_handle(account);
  return events;
}

std::size_t Incidents::join(Timestamp now) {
  Account& account = world_.population.add(now);
  world_.subjects.add_account({account.did, account.handle});
  world_.activity.found(account, 0, now);
  return world_.activity.act(account, now);
}

std::size_t Incidents::someone_joins(Account& /*account*/, Timestamp now) {
  return join(now);
}

}  // namespace skua::sim
