#include "world/record_writer.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "atproto/cid.hpp"
#include "event/json_event.hpp"
#include "world/language.hpp"

namespace skua::sim {
namespace {

/// Shares of creates: likes, posts, reposts, follows, and all others. Posts sometimes create gates
/// too (see Activity), so less than one in a hundred is left for the others.
constexpr std::array kMix = {0.72, 0.10, 0.10, 0.07, 0.0065};
constexpr std::array kFrequent = {Collection::like, Collection::post, Collection::repost,
                                  Collection::follow};

struct RestShare {
  Collection collection;
  double weight;
};
constexpr std::array<RestShare, 17> kKnownRest = {{{Collection::block, 25},
                                                   {Collection::list_item, 22},
                                                   {Collection::threadgate, 4},
                                                   {Collection::postgate, 3},
                                                   {Collection::list, 6},
                                                   {Collection::list_block, 3},
                                                   {Collection::starter_pack, 3},
                                                   {Collection::feed_generator, 3},
                                                   {Collection::verification, 3},
                                                   {Collection::profile, 4},
                                                   {Collection::status, 2},
                                                   {Collection::chat_declaration, 3},
                                                   {Collection::notification_declaration, 3},
                                                   {Collection::germ_declaration, 2},
                                                   {Collection::labeler, 1},
                                                   {Collection::reading_note, 8},
                                                   {Collection::garden_plot, 8}}};
constexpr double kUnlistedWeight = 3;

/// All collections that are not frequent.
constexpr auto kRest = [] {
  std::array<RestShare, kCollections - kFrequent.size()> rest{};
  std::array<bool, kCollections> is_listed{};
  std::size_t count = 0;
  for (const Collection frequent : kFrequent) is_listed[static_cast<std::size_t>(frequent)] = true;
  for (const RestShare& share : kKnownRest) {
    is_listed[static_cast<std::size_t>(share.collection)] = true;
    rest[count++] = share;
  }
  for (std::size_t i = 0; i < kCollections; ++i) {
    if (!is_listed[i]) rest[count++] = {static_cast<Collection>(i), kUnlistedWeight};
  }
  return rest;
}();

}  // namespace

std::string path_of(Collection collection, const std::string& rkey) {
  const std::string_view nsid = nsid_of(collection);
  std::string path;
  path.reserve(nsid.size() + 1 + rkey.size());
  path += nsid;
  path += '/';
  path += rkey;
  return path;
}

Bytes block_of(const nlohmann::json& record) {
  auto block = event::json_to_dag_cbor(record);
  if (!block) throw std::logic_error("simulated record: " + block.error().message());
  return std::move(*block);
}

Collection RecordWriter::collection_for_new(const Account& account) {
  const std::size_t drawn = random_.weighted(kMix);
  if (drawn < kFrequent.size()) return kFrequent[drawn];
  std::array<double, kRest.size()> weights{};
  for (std::size_t i = 0; i < kRest.size(); ++i) {
    const auto [collection, weight] = kRest[i];
    const bool gate = collection == Collection::threadgate || collection == Collection::postgate;
    const bool full = is_singleton(collection) && !account.keys_of(collection).empty();
    const bool nothing_to_gate = gate && account.keys_of(Collection::post).empty();
    weights[i] = full || nothing_to_gate ? 0 : weight;
  }
  return kRest[random_.weighted(weights)].collection;
}

std::optional<std::string> RecordWriter::new_key(Account& account, Collection collection,
                                                 Timestamp now) {
  RecordKeys& taken = account.keys_of(collection);
  if (is_singleton(collection)) {
    if (!taken.empty()) return std::nullopt;
    return "self";
  }
  if (collection == Collection::threadgate || collection == Collection::postgate) {
    const RecordKeys& posts = account.keys_of(Collection::post);
    if (posts.empty()) return std::nullopt;
    std::string post = posts.at(random_.below(posts.size()));
    if (taken.contains(post)) return std::nullopt;
    return post;
  }
  if (collection == Collection::feed_generator) {
    std::string words = random_word(random_) + "-" + random_word(random_);
    if (taken.contains(words)) return std::nullopt;
    return words;
  }
  // The record is a moment older than the commit, because clients write before the host commits.
  const auto written = now - std::chrono::microseconds(random_.below(1'000));
  const auto tid = atproto::Tid::from_time(written, static_cast<unsigned>(random_.next()));
  account.last_rkey = std::max(tid, atproto::Tid{account.last_rkey.value + 1});
  return account.last_rkey.to_string();
}

std::optional<Write> RecordWriter::create(Account& account, Collection collection, Timestamp now) {
  const auto rkey = new_key(account, collection, now);
  if (!rkey) return std::nullopt;
  return create_at(account, collection, *rkey, now);
}

Write RecordWriter::create_at(Account& account, Collection collection, const std::string& rkey,
                              Timestamp now) {
  return put_new(account, collection, rkey, maker_.make(collection, account, rkey, now));
}

Write RecordWriter::put_new(Account& account, Collection collection, const std::string& rkey,
                            const nlohmann::json& record) {
  Write write{path_of(collection, rkey), block_of(record)};
  account.keys_of(collection).add(rkey);
  tell_others(account, collection, rkey, record, write.block);
  return write;
}

Write RecordWriter::replace(const Account& account, Collection collection, const std::string& rkey,
                            Timestamp now) {
  return {path_of(collection, rkey), block_of(maker_.make(collection, account, rkey, now))};
}

Write RecordWriter::remove(Account& account, Collection collection, std::size_t index) {
  RecordKeys& keys = account.keys_of(collection);
  Write write{path_of(collection, keys.at(index)), {}};
  keys.remove(index);
  return write;
}

void RecordWriter::tell_others(const Account& account, Collection collection,
                               const std::string& rkey, const nlohmann::json& record,
                               const Bytes& block) {
  switch (collection) {
    case Collection::post:
    case Collection::repost:
    case Collection::list:
    case Collection::starter_pack:
    case Collection::feed_generator:
      break;
    default:
      return;
  }
  StrongRef ref{"at://" + account.did + "/" + path_of(collection, rkey),
                atproto::Cid::of(block).to_string()};
  if (collection == Collection::post) {
    KnownPost post{ref, ref};
    if (const auto reply = record.find("reply"); reply != record.end()) {
      const auto& root = reply->at("root");
      post.root = {root.at("uri").get<std::string>(), root.at("cid").get<std::string>()};
    }
    subjects_.add_post(std::move(post));
  } else if (collection == Collection::repost) {
    subjects_.reposts.add(std::move(ref));
  } else if (collection == Collection::list) {
    subjects_.lists.add(std::move(ref));
  } else if (collection == Collection::starter_pack) {
    subjects_.starter_packs.add(std::move(ref));
  } else {
    subjects_.feeds.add(std::move(ref));
  }
}

}  // namespace skua::sim
