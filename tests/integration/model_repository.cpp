#include "integration/model_repository.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "atproto/cid.hpp"
#include "event/json_event.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"
#include "repo/mst_tree.hpp"
#include "support/made_events.hpp"

namespace skua::test {
namespace {

using nlohmann::json;

constexpr const char* kCreatedAt = "2026-01-02T03:04:05.678Z";
/// Revisions lie a thousandth of a second apart, from the middle of 2025 on.
constexpr std::uint64_t kFirstRev = 1'751'328'000'000'000ULL << 10U;
constexpr std::uint64_t kRevStep = 1'000ULL << 10U;
/// How many different records a key takes in turn.
constexpr std::size_t kValues = 2;
constexpr std::size_t kHot = 15;

std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.find('/');
  return {path.substr(0, slash), path.substr(slash + 1)};
}

Bytes block_of(const json& record) {
  return event::json_to_dag_cbor(record).value();
}

}  // namespace

ModelRepository::ModelRepository(std::string did, std::size_t keys, std::vector<std::string> posts)
    : did_(std::move(did)), posts_(std::move(posts)) {
  states_.emplace(kFirstRev, ModelRecords());
  for (std::size_t i = 0; i < keys; ++i) {
    const std::string key = atproto::Tid{kFirstRev + i * kRevStep}.to_string();
    for (const char* collection :
         {"app.bsky.feed.post", "app.bsky.feed.like", "app.bsky.graph.follow"}) {
      paths_.push_back(std::string(collection) + "/" + key);
    }
    paths_.push_back("com.example.thing/odd:" + std::to_string(i));
    if (i % 8 != 0) continue;
    for (const char* collection :
         {"app.bsky.graph.list", "app.bsky.feed.threadgate", "com.example.other"}) {
      paths_.push_back(std::string(collection) + "/" + key);
    }
  }
  // These paths are often chosen, because a record with a fixed key changes most.
  for (std::size_t i = 0; i < 1 + keys / 10; ++i) {
    paths_.emplace_back("app.bsky.actor.profile/self");
    paths_.emplace_back("chat.bsky.actor.declaration/self");
  }
}

std::string ModelRepository::any_path(Chance& chance) const {
  // Some paths change often.
  return paths_[chance.below(chance.percent(60) ? std::min(paths_.size(), kHot) : paths_.size())];
}

json ModelRepository::any_record(Chance& chance, const std::string& path) const {
  const auto [collection, key] = split(path);
  const std::string& post = posts_[chance.below(kValues) % posts_.size()];
  json record = {{"$type", collection}, {"n", chance.below(kValues)}};
  if (!chance.percent(12)) record["createdAt"] = kCreatedAt;  // else most break their lexicon
  if (collection == "app.bsky.feed.post") {
    record["text"] = "words";
    const std::string cid = atproto::Cid::of(as_bytes(post)).to_string();
    if (chance.percent(30)) {
      record["reply"] = {{"root", {{"uri", post}, {"cid", cid}}},
                         {"parent", {{"uri", post}, {"cid", cid}}}};
    }
    if (record["n"] == 1) {
      record["embed"] = {{"$type", "app.bsky.embed.record"},
                         {"record", {{"uri", post}, {"cid", cid}}}};
    }
    if (record["n"] == 0) {
      record["tags"] = {"Tag", "other"};
      record["facets"] = {
          {{"index", {{"byteStart", 0}, {"byteEnd", 5}}},
           {"features",
            {{{"$type", "app.bsky.richtext.facet#mention"}, {"did", split(post.substr(5)).first}},
             {{"$type", "app.bsky.richtext.facet#tag"}, {"tag", "#tag"}}}}}};
    }
  } else if (collection == "app.bsky.feed.like") {
    const std::string cid = atproto::Cid::of(as_bytes(post)).to_string();
    record["subject"] = {{"uri", post}, {"cid", cid}};
    if (record["n"] == 1) {
      record["via"] = {
          {"uri", "at://" + split(posts_.front().substr(5)).first + "/app.bsky.feed.repost/" + key},
          {"cid", cid}};
    }
  } else if (collection == "app.bsky.graph.follow") {
    record["subject"] = split(post.substr(5)).first;
  } else if (collection == "app.bsky.graph.list") {
    record["name"] = "Names";
    record["purpose"] = "app.bsky.graph.defs#modlist";
  } else if (collection == "app.bsky.feed.threadgate") {
    record["post"] = "at://" + did_ + "/app.bsky.feed.post/" + key;
  } else if (collection == "chat.bsky.actor.declaration") {
    if (!chance.percent(12)) record["allowIncoming"] = "all";
  }
  return record;
}

void ModelRepository::commit(std::vector<ModelOp> ops, std::int64_t seq) {
  const auto& [before, held] = *states_.rbegin();
  ModelRecords records = held;
  for (ModelOp& op : ops) {
    op.is_update = op.record && records.contains(op.path);
    if (op.record) {
      records[op.path] = *op.record;
    } else {
      records.erase(op.path);
    }
  }
  const std::uint64_t rev = before + kRevStep;
  states_.emplace(rev, std::move(records));
  messages_.push_back({ModelMessage::Kind::Commit, seq, {rev}, std::move(ops)});
}

void ModelRepository::begin(Chance& chance, std::int64_t seq) {
  std::map<std::string, ModelOp> ops;
  for (const std::string& path : paths_) {
    if (chance.percent(85)) ops[path] = {path, any_record(chance, path)};
  }
  std::vector<ModelOp> all;
  for (auto& [path, op] : ops) all.push_back(std::move(op));
  commit(std::move(all), seq);
}

void ModelRepository::change(Chance& chance, std::int64_t seq) {
  std::map<std::string, ModelOp> ops;
  for (std::size_t left = 1 + chance.below(6); left > 0; --left) {
    const std::string path = any_path(chance);
    const bool is_there = records().contains(path);
    if (is_there && chance.percent(50)) {
      ops[path] = {path, std::nullopt};
    } else {
      ops[path] = {path, any_record(chance, path)};
    }
  }
  std::vector<ModelOp> all;
  for (auto& [path, op] : ops) all.push_back(std::move(op));
  commit(std::move(all), seq);
}

void ModelRepository::remove(std::int64_t seq) {
  is_deleted_ = true;
  messages_.push_back({ModelMessage::Kind::Deleted, seq, rev(), {}});
}

void ModelRepository::come_back(std::int64_t seq) {
  is_deleted_ = false;
  messages_.push_back({ModelMessage::Kind::Back, seq, rev(), {}});
  // What it had is gone: its first commit finds nothing.
  states_.emplace(rev().value + kRevStep, ModelRecords());
}

Bytes ModelRepository::car_of(atproto::Tid rev) const {
  const ModelRecords& records = states_.at(rev.value);
  std::vector<std::pair<std::string, atproto::Cid>> entries;
  std::vector<Bytes> blocks;
  for (const auto& [path, record] : records) {
    blocks.push_back(block_of(record));
    entries.emplace_back(path, atproto::Cid::of(blocks.back()));
  }
  const repo::BuiltMst tree = repo::build_mst(entries);
  const Bytes signature(64);
  repo::Commit commit;
  commit.did = did_;
  commit.data = tree.root;
  commit.rev = rev;
  commit.signature = signature;
  const Bytes commit_block = repo::commit_bytes(commit);
  Bytes car;
  repo::CarWriter writer(car, std::array{atproto::Cid::of(commit_block)});
  writer.block(commit_block);
  for (const auto& [cid, node] : tree.blocks) writer.block(cid, node);
  for (const Bytes& block : blocks) writer.block(block);
  return car;
}

std::vector<event::UnresolvedEvent> events_of(const ModelRepository& repository,
                                              const ModelMessage& message, records::RecordType type,
                                              Timestamp time) {
  std::vector<event::UnresolvedEvent> events;
  if (message.kind != ModelMessage::Kind::Commit) {
    if (type != records::RecordType::Actor) return events;
    const bool is_back = message.kind == ModelMessage::Kind::Back;
    event::UnresolvedEvent& event = events.emplace_back();
    event.did = repository.did();
    event.type = type;
    event.seq = message.seq;
    event.body = event::AccountChange{is_back, is_back ? "" : "deleted", time, !is_back,
                                      is_back ? atproto::Tid{} : message.rev};
    return events;
  }
  for (const ModelOp& op : message.ops) {
    const auto [collection, key] = split(op.path);
    if (records::record_type_of(collection) != type) continue;
    if (op.record) {
      events.push_back(
          made_write(repository.did(), collection, key, message.rev.value, *op.record,
                     op.is_update ? event::Operation::Update : event::Operation::Create));
    } else {
      events.push_back(made_delete(repository.did(), collection, key, message.rev.value));
    }
    events.back().seq = message.seq;
  }
  return events;
}

std::map<std::string, std::string> cids_of(const std::string& did, const ModelRecords& records) {
  std::map<std::string, std::string> cids;
  for (const auto& [path, record] : records) {
    cids["at://" + did + "/" + path] = atproto::Cid::of(block_of(record)).to_string();
  }
  return cids;
}

}  // namespace skua::test
