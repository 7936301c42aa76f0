#include "integration/random_network.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "integration/account_events.hpp"
#include "support/made_events.hpp"
#include "support/made_labels.hpp"

namespace skua::test {
namespace {

using nlohmann::json;

/// A collection of the network, and how often it is chosen.
struct Choice {
  const char* collection;
  std::size_t weight;
};

constexpr Choice kChoices[] = {
    {"app.bsky.feed.post", 40},         {"app.bsky.feed.like", 12},
    {"app.bsky.feed.repost", 10},       {"app.bsky.feed.threadgate", 8},
    {"app.bsky.feed.postgate", 6},      {"app.bsky.feed.generator", 2},
    {"app.bsky.graph.follow", 9},       {"app.bsky.graph.block", 2},
    {"app.bsky.graph.list", 2},         {"app.bsky.graph.listitem", 6},
    {"app.bsky.graph.listblock", 1},    {"app.bsky.graph.starterpack", 2},
    {"app.bsky.graph.verification", 1}, {"app.bsky.actor.profile", 3},
    {"app.bsky.actor.status", 1},       {"chat.bsky.actor.declaration", 1},
    {"com.example.thing", 3},
};

/// The network begins at 2025-12-01. The clock of the tests begins in 2026.
constexpr int kBegin = 1'764'547'200;
constexpr std::size_t kKeys = 4;
constexpr std::size_t kHandles = 3;

bool is_singleton(const std::string& collection) {
  return collection.find(".actor.") != std::string::npos;
}

json reference_to(const std::string& uri) {
  return {{"uri", uri}, {"cid", atproto::Cid::of(as_bytes(uri)).to_string()}};
}

std::string text_of(int second) {
  return format_datetime(at(kBegin + second));
}

}  // namespace

RandomNetwork::RandomNetwork(unsigned seed, std::size_t accounts, std::size_t events)
    : chance_(seed), accounts_(accounts), events_(accounts) {
  for (std::size_t i = 0; i < accounts; ++i) {
    accounts_[i].did = fmt::format("did:plc:account{}", i);
    accounts_[i].rev = std::uint64_t{1} << 60;
  }
  for (std::size_t i = 0; i < events; ++i) add(chance_.below(accounts));
}

bool RandomNetwork::is_owner(const std::string& handle, const std::string& did) const {
  const auto owner = owners_.find(handle);
  return owner != owners_.end() && owner->second == did;
}

/// No two events of the network have the same time.
int RandomNetwork::next_second(std::size_t account) {
  return accounts_[account].second +=
         static_cast<int>(accounts_.size() * (1 + chance_.below(3)) + account) -
         accounts_[account].second % static_cast<int>(accounts_.size());
}

void RandomNetwork::add(std::size_t account) {
  const std::size_t kind = chance_.below(100);
  if (kind < 2) {
    add_status(account, false, "deactivated");
    if (chance_.percent(80)) add_status(account, true, "");
  } else if (kind < 3) {
    add_status(account, false, "deleted");
    add_status(account, true, "");
  } else if (kind < 6) {
    add_handle(account);
  } else if (kind < 10) {
    add_label(account);
  } else {
    add_record(account);
  }
}

void RandomNetwork::add_status(std::size_t account, bool active, const std::string& status) {
  Account& of = accounts_[account];
  const bool is_deleted = status == "deleted";
  if (is_deleted) of.paths.clear();
  const event::AccountChange change{active, status, at(kBegin + next_second(account)), is_deleted,
                                    is_deleted ? atproto::Tid{of.rev} : atproto::Tid{}};
  // Its next commit is a new one.
  ++of.rev;
  of.in_commit.clear();
  events_[account].push_back({[did = of.did, change] {
                                event::UnresolvedEvent event = actor_event(did);
                                event.body = change;
                                return event;
                              },
                              records::RecordType::Actor, false,
                              fmt::format("{} is {}", of.did, active ? "active" : status)});
}

void RandomNetwork::add_handle(std::size_t account) {
  const std::string& did = accounts_[account].did;
  const std::string handle = fmt::format("handle{}.test", chance_.below(kHandles));
  const int second = next_second(account);
  for (auto owner = owners_.begin(); owner != owners_.end();) {
    owner = owner->second == did ? owners_.erase(owner) : std::next(owner);
  }
  if (!owners_.contains(handle) || claimed_[handle] < second) {
    owners_[handle] = did;
    claimed_[handle] = second;
  }
  events_[account].push_back({[did, handle, second] { return claim(did, handle, kBegin + second); },
                              records::RecordType::Actor, false,
                              fmt::format("{} claims {}", did, handle)});
}

void RandomNetwork::add_label(std::size_t account) {
  const std::string& did = accounts_[account].did;
  const int second = next_second(account);
  json label = made_label(did, chance_.percent(50) ? any_did() : any_uri("app.bsky.feed.post"),
                          chance_.percent(50) ? "spam" : "rude", text_of(second));
  if (chance_.percent(40)) label["neg"] = true;
  events_[account].push_back({[label, second] { return made_label_event(label, second); },
                              records::RecordType::Actor, true, label.dump()});
}

void RandomNetwork::add_record(std::size_t account) {
  std::size_t total = 0;
  for (const Choice& choice : kChoices) total += choice.weight;
  std::size_t left = chance_.below(total);
  const Choice* chosen = kChoices;
  while (left >= chosen->weight) left -= (chosen++)->weight;

  const std::string collection = chosen->collection;
  std::string key = atproto::Tid{(std::uint64_t{1} << 60) + chance_.below(kKeys)}.to_string();
  if (is_singleton(collection)) {
    key = "self";
  } else if (chance_.percent(5)) {
    key = "odd:key";
  }
  const std::string path = fmt::format("{}/{}", collection, key);
  if (chance_.percent(accounts_[account].paths.contains(path) ? 40 : 3)) {
    add_change(account, path, nullptr);
  } else {
    json record = any_record(account, collection, key);
    record["$type"] = collection;
    record["n"] = chance_.below(3);
    if (!chance_.percent(4)) record["createdAt"] = text_of(-static_cast<int>(chance_.below(900)));
    add_change(account, path, record);
  }
}

void RandomNetwork::add_change(std::size_t account, const std::string& path, const json& record) {
  Account& of = accounts_[account];
  if (chance_.percent(60) || of.in_commit.contains(path)) {
    ++of.rev;
    of.in_commit.clear();
  }
  of.in_commit.insert(path);
  const std::string collection = path.substr(0, path.find('/'));
  const std::string key = path.substr(path.find('/') + 1);
  const auto operation =
      of.paths.contains(path) ? event::Operation::Update : event::Operation::Create;
  if (record.is_null()) {
    of.paths.erase(path);
  } else {
    of.paths.insert(path);
  }
  events_[account].push_back(
      {[did = of.did, collection, key, rev = of.rev, record, operation] {
         return record.is_null() ? made_delete(did, collection, key, rev)
                                 : made_write(did, collection, key, rev, record, operation);
       },
       records::record_type_of(collection), false,
       fmt::format("{}/{} at {}: {}", of.did, path, of.rev & 0xFFFFU, record.dump())});
}

std::string RandomNetwork::any_uri(const std::string& collection) {
  const std::string key =
      chance_.percent(5)
          ? "odd:key"
          : atproto::Tid{(std::uint64_t{1} << 60) + chance_.below(kKeys)}.to_string();
  return fmt::format("at://{}/{}/{}", any_did(), collection, key);
}

json RandomNetwork::any_reference() {
  return reference_to(
      any_uri(chance_.percent(90) ? "app.bsky.feed.post" : "app.bsky.feed.generator"));
}

json RandomNetwork::any_post() {
  json post = {{"text", "words"}};
  if (chance_.percent(60)) {
    const std::string root = any_uri("app.bsky.feed.post");
    post["reply"] = {
        {"root", reference_to(root)},
        {"parent", reference_to(chance_.percent(40) ? root : any_uri("app.bsky.feed.post"))}};
  }
  if (chance_.percent(30)) {
    post["embed"] = {{"$type", "app.bsky.embed.record"}, {"record", any_reference()}};
  }
  json features = json::array();
  if (chance_.percent(25)) {
    features.push_back({{"$type", "app.bsky.richtext.facet#mention"}, {"did", any_did()}});
  }
  if (chance_.percent(20)) {
    features.push_back(
        {{"$type", "app.bsky.richtext.facet#tag"}, {"tag", chance_.percent(50) ? "one" : "two"}});
  }
  if (!features.empty()) {
    post["facets"] = {{{"index", {{"byteStart", 0}, {"byteEnd", 5}}}, {"features", features}}};
  }
  return post;
}

json RandomNetwork::any_gate(std::size_t account, const std::string& collection,
                             const std::string& key) {
  const std::string own = fmt::format("at://{}/app.bsky.feed.post/{}", accounts_[account].did, key);
  json gate = {{"post", chance_.percent(90) ? own : any_uri("app.bsky.feed.post")}};
  if (collection == "app.bsky.feed.postgate") {
    if (chance_.percent(50)) gate["embeddingRules"] = {{{"$type", collection + "#disableRule"}}};
    if (chance_.percent(40)) gate["detachedEmbeddingUris"] = {any_uri("app.bsky.feed.post")};
    return gate;
  }
  if (chance_.percent(40)) gate["hiddenReplies"] = {any_uri("app.bsky.feed.post")};
  if (chance_.percent(10)) return gate;
  gate["allow"] = json::array();
  for (const char* rule : {"mentionRule", "followerRule", "followingRule"}) {
    if (chance_.percent(25)) gate["allow"].push_back({{"$type", collection + "#" + rule}});
  }
  if (chance_.percent(40)) {
    std::string uri = any_uri("app.bsky.graph.list");
    // The lexicon allows a handle in place of the DID.
    if (chance_.percent(40)) {
      uri = fmt::format("at://handle{}.test/{}", chance_.below(kHandles),
                        uri.substr(uri.find("app.bsky")));
    }
    gate["allow"].push_back({{"$type", collection + "#listRule"}, {"list", uri}});
  }
  return gate;
}

json RandomNetwork::any_record(std::size_t account, const std::string& collection,
                               const std::string& key) {
  if (collection == "app.bsky.feed.post") return any_post();
  if (collection.ends_with("gate")) return any_gate(account, collection, key);
  if (collection == "app.bsky.feed.like" || collection == "app.bsky.feed.repost") {
    json record = {{"subject", any_reference()}};
    if (chance_.percent(30)) record["via"] = reference_to(any_uri("app.bsky.feed.repost"));
    return record;
  }
  if (collection == "app.bsky.feed.generator") {
    return {{"did", "did:web:feed.test"}, {"displayName", "Feed"}};
  }
  if (collection == "app.bsky.graph.list") {
    return {{"purpose", "app.bsky.graph.defs#curatelist"}, {"name", "Names"}};
  }
  if (collection == "app.bsky.graph.listitem") {
    // Mostly of its own list.
    std::string list = any_uri("app.bsky.graph.list");
    if (chance_.percent(80)) list.replace(5, list.find('/', 5) - 5, accounts_[account].did);
    return {{"subject", any_did()}, {"list", list}};
  }
  if (collection == "app.bsky.graph.listblock")
    return {{"subject", any_uri("app.bsky.graph.list")}};
  if (collection == "app.bsky.graph.starterpack") {
    return {{"name", "Pack"}, {"list", any_uri("app.bsky.graph.list")}};
  }
  if (collection == "app.bsky.graph.verification") {
    return {{"subject", any_did()}, {"handle", "any.test"}, {"displayName", "Any"}};
  }
  if (collection.starts_with("app.bsky.graph")) return {{"subject", any_did()}};
  if (collection == "app.bsky.actor.profile") {
    return {{"displayName", "Name"},
            {"pinnedPost", reference_to(any_uri("app.bsky.feed.post"))},
            {"joinedViaStarterPack", reference_to(any_uri("app.bsky.graph.starterpack"))}};
  }
  if (collection == "app.bsky.actor.status") return {{"status", "app.bsky.actor.status#live"}};
  if (collection == "chat.bsky.actor.declaration") return {{"allowIncoming", "all"}};
  return json::object();
}

}  // namespace skua::test
