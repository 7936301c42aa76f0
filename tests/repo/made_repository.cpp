#include "repo/made_repository.hpp"

#include <map>
#include <random>

#include "atproto/signing.hpp"
#include "atproto/tid.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/mst_tree.hpp"

namespace skua::repo::test_cases {

std::string path_of(std::uint32_t number) {
  static const std::array<std::string, 3> collections = {
      "app.bsky.feed.post/", "app.bsky.feed.like/", "com.example.thing/"};
  return collections[number % collections.size()] +
         atproto::Tid{std::uint64_t{number} << 20U}.to_string();
}

Entries made_entries(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  std::map<std::string, atproto::Cid> sorted;
  while (sorted.size() < count) {
    const auto number = static_cast<std::uint32_t>(random());
    sorted.emplace(path_of(number), atproto::Cid::of(as_bytes(path_of(number))));
  }
  return {sorted.begin(), sorted.end()};
}

BlockMap view_of(const OwnedBlocks& blocks) {
  BlockMap map;
  for (const auto& [cid, block] : blocks) map.emplace(cid.digest, block);
  return map;
}

Bytes made_repository(std::uint32_t seed, std::size_t records) {
  Entries entries = made_entries(seed, records);
  std::vector<Bytes> blocks;
  for (auto& [key, cid] : entries) {
    Bytes& block = blocks.emplace_back();
    CborWriter writer(block);
    writer.map(1);
    writer.string("text");
    writer.string("record at " + key);
    cid = atproto::Cid::of(block);
  }
  const BuiltMst tree = build_mst(entries);

  std::array<std::uint8_t, 32> secret{};
  secret.fill(1);
  const auto key = atproto::SigningKey::from_bytes(atproto::Curve::k256, secret);
  Commit commit;
  commit.did = "did:plc:madeupmadeupmadeupmadeup";
  commit.data = tree.root;
  commit.rev = atproto::Tid{std::uint64_t{seed} + 1};
  const auto signature = key->sign(unsigned_commit_bytes(commit));
  commit.signature = signature;
  const Bytes commit_block = commit_bytes(commit);

  Bytes car;
  const std::array roots = {atproto::Cid::of(commit_block)};
  CarWriter writer(car, roots);
  writer.block(commit_block);
  for (const auto& [cid, node] : tree.blocks) writer.block(cid, node);
  for (const Bytes& block : blocks) writer.block(block);
  return car;
}

}  // namespace skua::repo::test_cases
