#include "verify/signed_repository.hpp"

#include <array>
#include <utility>

#include "repo/car.hpp"

namespace skua::test {
namespace {

atproto::SigningKey key_from(atproto::Curve curve, unsigned char secret) {
  std::array<std::uint8_t, 32> bytes{};
  bytes.fill(secret);
  return *atproto::SigningKey::from_bytes(curve, bytes);
}

const char* action_of(event::Operation operation) {
  switch (operation) {
    case event::Operation::Create:
      return "create";
    case event::Operation::Update:
      return "update";
    case event::Operation::Delete:
      break;
  }
  return "delete";
}

}  // namespace

Bytes car_of(const atproto::Cid& root, const std::map<atproto::Cid, Bytes>& blocks) {
  Bytes car;
  const std::array roots = {root};
  repo::CarWriter writer(car, roots);
  for (const auto& [cid, data] : blocks) writer.block(cid, data);
  return car;
}

SignedRepository::SignedRepository(atproto::Curve curve, unsigned char secret)
    : key_(key_from(curve, secret)), data_(tree_.root()) {}

SignedRepository::Parts SignedRepository::change(const std::vector<Change>& changes) {
  Parts parts;
  json ops = json::array();
  for (const Change& change : changes) {
    json op = {{"action", action_of(change.operation)}, {"path", change.path}, {"cid", nullptr}};
    if (const auto before = records_.find(change.path); before != records_.end()) {
      op["prev"] = link_json(before->second);
    }
    if (change.operation == event::Operation::Delete) {
      tree_.remove(change.path).value();
      records_.erase(change.path);
    } else {
      const Bytes block = cbor_of(post_json(change.text));
      const auto cid = atproto::Cid::of(block);
      parts.blocks.emplace(cid, block);
      op["cid"] = link_json(cid);
      tree_.set(change.path, cid).value();
      records_[change.path] = cid;
    }
    ops.push_back(op);
  }
  repo::OwnedBlocks proof;
  for (const Change& change : changes) tree_.add_proof(change.path, proof).value();
  if (records_.empty()) proof = tree_.blocks();
  parts.blocks.insert(proof.begin(), proof.end());

  const atproto::Tid before = rev_;
  rev_ = before.value == 0 ? *atproto::Tid::parse(kRev) : atproto::Tid{before.value + 1024};
  parts.body = {{"seq", 42},
                {"repo", kDid},
                {"time", kTime},
                {"rev", rev_.to_string()},
                {"since", before.value == 0 ? json() : json(before.to_string())},
                {"prevData", link_json(data_)},
                {"ops", ops},
                {"blobs", json::array()},
                {"rebase", false},
                {"tooBig", false}};
  data_ = tree_.root();
  parts.commit.did = kDid;
  parts.commit.data = data_;
  parts.commit.rev = rev_;
  return parts;
}

Bytes SignedRepository::signed_block(repo::Commit commit) const {
  const auto signature = key_.sign(repo::unsigned_commit_bytes(commit));
  commit.signature = signature;
  return repo::commit_bytes(commit);
}

json SignedRepository::sign(Parts parts) const {
  const Bytes block = signed_block(parts.commit);
  const auto cid = atproto::Cid::of(block);
  parts.blocks.emplace(cid, block);
  parts.body["commit"] = link_json(cid);
  parts.body["blocks"] = bytes_json(car_of(cid, parts.blocks));
  return parts.body;
}

json SignedRepository::sync() const {
  repo::Commit commit;
  commit.did = kDid;
  commit.data = data_;
  commit.rev = rev_;
  const Bytes block = signed_block(commit);
  const auto cid = atproto::Cid::of(block);
  return {{"seq", 43},
          {"did", kDid},
          {"time", kTime},
          {"rev", rev_.to_string()},
          {"blocks", bytes_json(car_of(cid, {{cid, block}}))}};
}

atproto::VerifyingKey SignedRepository::key() const {
  return *atproto::VerifyingKey::from_multikey(key_.public_key());
}

}  // namespace skua::test
