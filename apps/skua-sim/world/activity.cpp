#include "world/activity.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace skua::sim {
namespace {

constexpr double kUpdates = 0.06;
constexpr double kDeletes = 0.10;
/// The share of commits with more than one op.
constexpr double kSeveralActs = 0.10;
constexpr double kThreadgate = 0.02;
constexpr double kPostgate = 0.015;
constexpr std::chrono::hours kHistory{300 * 24};

struct UpdateShare {
  Collection collection;
  double weight;
};
constexpr std::array<UpdateShare, 7> kUpdated = {{{Collection::profile, 40},
                                                  {Collection::post, 15},
                                                  {Collection::list, 10},
                                                  {Collection::reading_note, 10},
                                                  {Collection::garden_plot, 10},
                                                  {Collection::threadgate, 8},
                                                  {Collection::postgate, 7}}};
constexpr std::array<UpdateShare, 9> kDeleted = {{{Collection::like, 60},
                                                  {Collection::follow, 14},
                                                  {Collection::repost, 12},
                                                  {Collection::post, 10},
                                                  {Collection::block, 1},
                                                  {Collection::list_item, 1},
                                                  {Collection::threadgate, 1},
                                                  {Collection::reading_note, 0.5},
                                                  {Collection::status, 0.5}}};

/// Returns one of the collections in which the account has records; nothing if it has none.
template <class Shares>
std::optional<Collection> draw(Random& random, const Account& account, const Shares& shares) {
  std::array<double, std::tuple_size_v<Shares>> weights{};
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!account.keys_of(shares[i].collection).empty()) weights[i] = shares[i].weight;
    sum += weights[i];
  }
  if (sum == 0) return std::nullopt;
  return shares[random.weighted(weights)].collection;
}

bool touches(const std::vector<Write>& writes, const std::string& path) {
  return std::any_of(writes.begin(), writes.end(),
                     [&](const Write& write) { return write.path == path; });
}

}  // namespace

void Activity::found(Account& account, std::size_t records, Timestamp now) {
  std::vector<AccountRepository::InitialRecord> made;
  made.reserve(records);
  const Timestamp begin = now - kHistory;
  const auto add = [&](Collection collection, Timestamp time) {
    auto write = records_.create(account, collection, time);
    if (!write) return;
    const auto cid = atproto::Cid::of(write->block);
    made.push_back({std::move(write->path), atproto::Tid::from_time(time, 0), cid,
                    account.repository.keeps_records() ? std::move(write->block) : Bytes()});
  };
  if (records > 0) {
    const auto gap = std::chrono::microseconds(kHistory) / static_cast<std::int64_t>(records + 1);
    const auto gap_count = static_cast<std::size_t>(gap.count());
    add(Collection::profile, begin);
    for (std::size_t i = 1; made.size() < records; ++i) {
      const auto at =
          std::min<std::int64_t>(static_cast<std::int64_t>(i), static_cast<std::int64_t>(records));
      const std::chrono::microseconds jitter(random_.below(gap_count));
      add(records_.collection_for_new(account), begin + gap * at + jitter);
    }
    account.introduced = true;
  }
  const auto rev = atproto::Tid::from_time(now - std::chrono::seconds(1), 0);
  account.repository.found(std::move(made), rev, account.signing_key);
}

std::size_t Activity::introduce(Account& account, Timestamp now) {
  account.introduced = true;
  announcements_.identity(account, now);
  announcements_.account(account, now);
  announcements_.commit(account, account.repository.first_commit(now));
  return 2;
}

std::size_t Activity::act(Account& account, Timestamp now) {
  constexpr std::size_t kMostAtOnce = 4;
  return act_often(account, random_.chance(kSeveralActs) ? random_.between(2, kMostAtOnce) : 1,
                   now);
}

std::size_t Activity::act_often(Account& account, std::size_t ops, Timestamp now) {
  std::size_t events = 0;
  std::vector<Write> writes;
  if (!account.introduced) {
    events += introduce(account, now);
    writes.push_back(records_.create_at(account, Collection::profile, "self", now));
  }
  while (writes.size() < ops) add_op(account, writes, now);
  return events + commit(account, std::move(writes), now);
}

std::size_t Activity::commit(Account& account, std::vector<Write> writes, Timestamp now) {
  const std::size_t ops = writes.size();
  announcements_.commit(account,
                        account.repository.commit(std::move(writes), now, account.signing_key));
  return ops;
}

void Activity::add_op(Account& account, std::vector<Write>& writes, Timestamp now) {
  const double kind = random_.unit();
  if (kind < kUpdates && add_update(account, writes, now)) return;
  if (kind >= kUpdates && kind < kUpdates + kDeletes && add_delete(account, writes)) return;
  add_create(account, writes, now);
}

void Activity::add_create(Account& account, std::vector<Write>& writes, Timestamp now) {
  for (;;) {
    const Collection collection = records_.collection_for_new(account);
    const auto rkey = records_.new_key(account, collection, now);
    // A record that this commit deleted is not created again in the same commit.
    if (!rkey || touches(writes, path_of(collection, *rkey))) continue;
    writes.push_back(records_.create_at(account, collection, *rkey, now));
    if (collection != Collection::post) return;
    for (const auto& [gate, share] : {std::pair(Collection::threadgate, kThreadgate),
                                      std::pair(Collection::postgate, kPostgate)}) {
      if (random_.chance(share)) {
        writes.push_back(records_.create_at(account, gate, *rkey, now));
      }
    }
    return;
  }
}

bool Activity::add_update(Account& account, std::vector<Write>& writes, Timestamp now) {
  const auto collection = draw(random_, account, kUpdated);
  if (!collection) return false;
  const RecordKeys& keys = account.keys_of(*collection);
  const std::string rkey = keys.at(random_.below(keys.size()));
  if (touches(writes, path_of(*collection, rkey))) return false;
  writes.push_back(records_.replace(account, *collection, rkey, now));
  return true;
}

bool Activity::add_delete(Account& account, std::vector<Write>& writes) {
  const auto collection = draw(random_, account, kDeleted);
  if (!collection) return false;
  const RecordKeys& keys = account.keys_of(*collection);
  const std::size_t index = random_.below(keys.size());
  if (touches(writes, path_of(*collection, keys.at(index)))) return false;
  writes.push_back(records_.remove(account, *collection, index));
  return true;
}

}  // namespace skua::sim
