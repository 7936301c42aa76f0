#include "world/hostile.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "atproto/tid.hpp"
#include "repo/commit.hpp"
#include "world/account.hpp"
#include "world/incidents.hpp"
#include "world/language.hpp"

namespace skua::sim {

namespace {

constexpr std::chrono::hours kIntoFuture{1};

/// Replaces the commit block and its CID.
void replace_commit_block(CommitFrame& commit, Bytes block) {
  commit.commit = atproto::Cid::of(block);
  commit.blocks.front() = {commit.commit, std::move(block)};
}

repo::Commit read_commit(ByteView block) {
  const auto commit = repo::decode_commit(block);
  if (!commit) throw std::logic_error("simulated commit: " + commit.error().message());
  return *commit;
}

Message cut_short(const CommitFrame& commit) {
  Message message = commit_message(commit);
  const std::size_t after_seq = *message.seq_at;
  message.bytes.resize(after_seq + (message.bytes.size() - after_seq) / 2);
  return message;
}

bool change_record(CommitFrame& commit) {
  for (auto& entry : commit.blocks) {
    const bool is_record = std::any_of(commit.ops.begin(), commit.ops.end(),
                                       [&](const CommitOp& op) { return op.cid == entry.first; });
    if (!is_record) continue;
    entry.second[entry.second.size() / 2] ^= 1U;
    return true;
  }
  return false;
}

void change_signature(CommitFrame& commit) {
  const Bytes block = commit.blocks.front().second;
  repo::Commit content = read_commit(block);
  Bytes signature(content.signature.begin(), content.signature.end());
  signature.back() ^= 1U;
  content.signature = signature;
  replace_commit_block(commit, repo::commit_bytes(content));
}

/// Signs the commit again with another revision.
void sign_as(CommitFrame& commit, atproto::Tid rev, const atproto::SigningKey& key) {
  const Bytes block = commit.blocks.front().second;
  commit.rev = rev.to_string();
  replace_commit_block(commit, signed_commit(commit.did, read_commit(block).data, rev, key));
}

/// Returns the direct successor of the commit's revision, which is newer than the known revision
/// and older than the next honest one.
atproto::Tid next_rev(const CommitFrame& commit) {
  return {atproto::Tid::parse(commit.rev)->value + 1};
}

using nlohmann::json;

constexpr std::array kChangedMinds = {Collection::like,    Collection::post, Collection::follow,
                                      Collection::profile, Collection::list, Collection::repost};

/// Makes a record violate its lexicon.
void break_record(Random& random, json& record) {
  switch (random.below(5)) {
    case 0:
      record.erase("createdAt");
      return;
    case 1:
      record["createdAt"] = 7;
      return;
    case 2:
      record["createdAt"] = "yesterday";
      return;
    case 3:
      record["$type"] = "test.margin.reading.note";
      return;
    default:
      break;
  }
  const auto subject = record.find("subject");
  if (subject == record.end()) {
    record["text"] = json::array({"not", "a", "text"});
  } else if (subject->is_object()) {
    (*subject)["uri"] = "at:/nowhere";
  } else {
    *subject = "nobody";
  }
}

}  // namespace

std::optional<Message> hostile_message(Hostility kind, CommitFrame commit,
                                       const atproto::SigningKey& key, Timestamp now) {
  switch (kind) {
    case Hostility::truncated_frame:
      return cut_short(commit);
    case Hostility::bad_hash:
      if (!change_record(commit)) return std::nullopt;
      break;
    case Hostility::bad_signature:
      sign_as(commit, next_rev(commit), key);
      change_signature(commit);
      break;
    case Hostility::wrong_prev_data:
      sign_as(commit, next_rev(commit), key);
      commit.prev_data = atproto::Cid::of(as_bytes("a tree that never was"));
      break;
    case Hostility::replayed_rev:
      break;
    case Hostility::future_rev:
      sign_as(commit, atproto::Tid::from_time(now + kIntoFuture, 0), key);
      break;
  }
  return commit_message(commit);
}

Message commit_in_name_of(const std::string& did, std::size_t bytes, CommitFrame commit,
                          const atproto::SigningKey& key) {
  commit.did = did;
  sign_as(commit, *atproto::Tid::parse(commit.rev), key);
  Bytes filler(bytes);
  const auto cid = atproto::Cid::of(filler);
  commit.blocks.emplace_back(cid, std::move(filler));
  return commit_message(commit);
}

std::optional<std::pair<Collection, std::string>> Incidents::some_key(const Account& account) {
  const std::size_t first = world_.random.below(kChangedMinds.size());
  for (std::size_t i = 0; i < kChangedMinds.size(); ++i) {
    const Collection collection = kChangedMinds[(first + i) % kChangedMinds.size()];
    const RecordKeys& keys = account.keys_of(collection);
    if (!keys.empty()) return std::pair(collection, keys.at(world_.random.below(keys.size())));
  }
  return std::nullopt;
}

std::size_t Incidents::many_ops(Account& account, Timestamp now) {
  constexpr double kAsManyAsAllowed = 0.05;
  // The number is below the limit of 200, because a post may add two gates.
  const std::size_t ops = world_.random.chance(kAsManyAsAllowed) ? world_.random.between(150, 198)
                                                                 : world_.random.between(5, 40);
  return world_.activity.act_often(account, ops, now);
}

std::size_t Incidents::delete_and_create(Account& account, Timestamp now) {
  const auto key = some_key(account);
  if (!key) return 0;
  const auto& [collection, rkey] = *key;
  std::vector<Write> writes;
  writes.push_back(
      world_.records.remove(account, collection, *account.keys_of(collection).index_of(rkey)));
  writes.push_back(world_.records.create_at(account, collection, rkey, now));
  return world_.activity.commit(account, std::move(writes), now);
}

std::size_t Incidents::create_and_delete(Account& account, Timestamp now) {
  constexpr Collection kCollection = Collection::post;
  const std::string rkey = *world_.records.new_key(account, kCollection, now);
  std::vector<Write> writes;
  writes.push_back(world_.records.create_at(account, kCollection, rkey, now));
  writes.push_back(
      world_.records.remove(account, kCollection, *account.keys_of(kCollection).index_of(rkey)));
  return world_.activity.commit(account, std::move(writes), now);
}

std::size_t Incidents::update_twice(Account& account, Timestamp now) {
  const auto key = some_key(account);
  if (!key) return 0;
  std::vector<Write> writes;
  writes.push_back(world_.records.replace(account, key->first, key->second, now));
  writes.push_back(world_.records.replace(account, key->first, key->second, now));
  return world_.activity.commit(account, std::move(writes), now);
}

std::size_t Incidents::delete_then_create(Account& account, Timestamp now) {
  const auto key = some_key(account);
  if (!key) return 0;
  const auto& [collection, rkey] = *key;
  std::vector<Write> first;
  first.push_back(
      world_.records.remove(account, collection, *account.keys_of(collection).index_of(rkey)));
  world_.activity.commit(account, std::move(first), now);
  std::vector<Write> second;
  second.push_back(world_.records.create_at(account, collection, rkey, now));
  world_.activity.commit(account, std::move(second), now);
  return 2;
}

std::size_t Incidents::no_ops(Account& account, Timestamp now) {
  return world_.activity.commit(account, {}, now);
}

std::size_t Incidents::stand_still(Account& account, Timestamp now) {
  world_.announcements.sync(account, now);
  return 0;
}

std::size_t Incidents::put(Account& account, Collection collection, const std::string& rkey,
                           const json& record, Timestamp now) {
  std::vector<Write> writes;
  writes.push_back(world_.records.put_new(account, collection, rkey, record));
  return world_.activity.commit(account, std::move(writes), now);
}

std::size_t Incidents::broken_record(Account& account, Timestamp now) {
  constexpr std::array kBreakable = {Collection::like, Collection::post, Collection::follow,
                                     Collection::repost};
  const Collection collection = world_.random.pick(kBreakable);
  const std::string rkey = *world_.records.new_key(account, collection, now);
  json record = world_.records.make(collection, account, rkey, now);
  break_record(world_.random, record);
  return put(account, collection, rkey, record, now);
}

std::size_t Incidents::nul_in_text(Account& account, Timestamp now) {
  const std::string rkey = *world_.records.new_key(account, Collection::post, now);
  json post = world_.records.make(Collection::post, account, rkey, now);
  // The character is appended at the end, so that the offsets of facets stay valid.
  auto& text = post["text"].get_ref<std::string&>();
  text += '\0';
  text += random_word(world_.random);
  return put(account, Collection::post, rkey, post, now);
}

std::size_t Incidents::year_one(Account& account, Timestamp now) {
  constexpr std::array kDated = {Collection::like, Collection::post};
  const Collection collection = world_.random.pick(kDated);
  const std::string rkey = *world_.records.new_key(account, collection, now);
  json record = world_.records.make(collection, account, rkey, now);
  record["createdAt"] = "0001-01-01T00:00:00Z";
  return put(account, collection, rkey, record, now);
}

std::size_t Incidents::odd_key(Account& account, Timestamp now) {
  constexpr std::size_t kLongest = 512;
  constexpr std::array kAnyKey = {Collection::reading_note, Collection::like, Collection::post,
                                  Collection::feed_generator};
  Collection collection = world_.random.pick(kAnyKey);
  std::string rkey;
  switch (world_.random.below(4)) {
    case 0:  // a TID outside the signed 64-bit range: it begins with c
      rkey = atproto::Tid{(world_.random.next() >> 4) | (std::uint64_t{1} << 63)}.to_string();
      break;
    case 1:
      rkey = random_name(world_.random);
      rkey.resize(kLongest, 'x');
      break;
    case 2:
      rkey = "A.b:c_d~e-" + std::to_string(world_.random.below(1'000));
      break;
    default:
      collection = Collection::feed_generator;
      rkey = random_name(world_.random);
      break;
  }
  if (account.keys_of(collection).contains(rkey)) return 0;
  std::vector<Write> writes;
  writes.push_back(world_.records.create_at(account, collection, rkey, now));
  return world_.activity.commit(account, std::move(writes), now);
}

}  // namespace skua::sim
