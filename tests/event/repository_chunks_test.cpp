#include "event/repository_chunks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "event/frame_builder.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"
#include "repo/mst_tree.hpp"

namespace skua::event::repository_chunks_test {
namespace {

using test::kDid;

constexpr std::uint64_t kRepository = 17;
const atproto::Tid kRevision{1234};

/// `count` records, dealt to collections of every type in turn; text and key say which it is.
std::map<std::string, Bytes> made_records(std::size_t count) {
  const std::array<std::string, 6> collections = {"app.bsky.actor.profile", "app.bsky.feed.like",
                                                  "app.bsky.graph.follow",  "app.bsky.feed.post",
                                                  "com.example.thing",      "app.bsky.graph.block"};
  std::map<std::string, Bytes> records;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& collection = collections[i % collections.size()];
    const std::string key = atproto::Tid{std::uint64_t{i} << 20U}.to_string();
    records[collection + "/" + key] = test::cbor_of({{"$type", collection}, {"text", key}});
  }
  return records;
}

Bytes car_of(const std::map<std::string, Bytes>& records) {
  std::vector<std::pair<std::string, atproto::Cid>> entries;
  for (const auto& [path, block] : records) entries.emplace_back(path, atproto::Cid::of(block));
  const repo::BuiltMst tree = repo::build_mst(entries);
  const Bytes signature(64);
  repo::Commit commit;
  commit.did = kDid;
  commit.data = tree.root;
  commit.rev = kRevision;
  commit.signature = signature;
  const Bytes commit_block = repo::commit_bytes(commit);
  Bytes car;
  repo::CarWriter writer(car, std::array{atproto::Cid::of(commit_block)});
  writer.block(commit_block);
  for (const auto& [cid, node] : tree.blocks) writer.block(cid, node);
  for (const auto& [path, block] : records) writer.block(block);
  return car;
}

std::string path_of(const UnresolvedEvent& event) {
  if (const auto* rejection = std::get_if<Rejection>(&event.body)) return rejection->what;
  const auto& change = std::get<RecordChange>(event.body);
  return change.collection + "/" + change.rkey;
}

Bytes block_of(const UnresolvedEvent& event) {
  if (const auto* rejection = std::get_if<Rejection>(&event.body)) return rejection->payload;
  return std::get<RecordChange>(event.body).block;
}

/// All chunks of a repository with these records.
std::vector<Chunk> chunks_of(const std::map<std::string, Bytes>& records, ChunkOptions options) {
  const Bytes car = car_of(records);
  const auto listing = repo::RepositoryListing::open(car);
  EXPECT_TRUE(listing) << listing.error().message();
  RepositoryChunks chunks(*listing, std::string(kDid), kRevision, kRepository, std::move(options));
  std::vector<Chunk> all;
  while (auto chunk = chunks.next()) all.push_back(std::move(*chunk));
  EXPECT_FALSE(chunks.next());
  return all;
}

/// Expects that chunks are within their bounds and hold each of `records` once.
void expect_chunks(const std::vector<Chunk>& chunks, const std::map<std::string, Bytes>& records,
                   const ChunkOptions& options) {
  std::map<std::string, Bytes> seen;
  std::map<RecordType, std::string> last_path;
  for (const Chunk& chunk : chunks) {
    EXPECT_EQ(chunk.did(), kDid);
    EXPECT_EQ(chunk.repository, kRepository);
    EXPECT_FALSE(chunk.events.empty());
    EXPECT_LE(chunk.events.size(), options.max_records);
    std::size_t block_bytes = 0;
    for (const ResolvedEvent& resolved : chunk.events) {
      const UnresolvedEvent& event = resolved.event;
      EXPECT_EQ(resolved.actor_id, 0);
      EXPECT_EQ(event.type, chunk.lane().type);
      EXPECT_EQ(event.did, kDid);
      const std::string path = path_of(event);
      EXPECT_LT(last_path[chunk.lane().type], path);
      last_path[chunk.lane().type] = path;
      EXPECT_TRUE(seen.emplace(path, block_of(event)).second) << path;
      block_bytes += block_of(event).size();
    }
    EXPECT_TRUE(block_bytes <= options.max_bytes || chunk.events.size() == 1) << block_bytes;
    EXPECT_GT(chunk.bytes, block_bytes);
  }
  EXPECT_EQ(seen, records);
}

struct Cut {
  std::string name;
  std::size_t records;
  std::size_t max_records;
  std::size_t max_bytes;
};

class CutRepository : public testing::TestWithParam<Cut> {};

TEST_P(CutRepository, is_whole_again_taken_together) {
  const ChunkOptions options{GetParam().max_records, GetParam().max_bytes, nullptr};
  const auto records = made_records(GetParam().records);
  expect_chunks(chunks_of(records, options), records, options);
}

INSTANTIATE_TEST_SUITE_P(Bounds, CutRepository,
                         testing::Values(Cut{"empty", 0, 100, 100'000}, Cut{"one", 1, 1, 1},
                                         Cut{"few_records", 500, 7, 100'000},
                                         Cut{"few_bytes", 500, 100, 300},
                                         Cut{"one_at_a_time", 60, 100, 1},
                                         Cut{"no_bound", 500, 5'000, 4'000'000}),
                         [](const auto& test) { return test.param.name; });

TEST(RepositoryChunks, are_full_before_they_are_given) {
  const auto chunks = chunks_of(made_records(600), {30, 1'000'000, nullptr});
  std::map<RecordType, std::size_t> partly;
  for (const Chunk& chunk : chunks) {
    if (chunk.events.size() < 30) ++partly[chunk.lane().type];
  }
  for (const auto& [type, count] : partly) EXPECT_EQ(count, 1U) << name_of(type);
}

TEST(RepositoryChunks, leave_out_what_they_are_told) {
  const auto records = made_records(120);
  std::map<std::string, Bytes> others;
  for (const auto& [path, block] : records) {
    if (!path.starts_with("app.bsky.feed.")) others.emplace(path, block);
  }
  ChunkOptions options;
  options.leave_out = [&](const repo::ListedRecord& record) {
    EXPECT_EQ(record.cid, atproto::Cid::of(records.at(std::string(record.path))));
    return record.path.starts_with("app.bsky.feed.");
  };
  expect_chunks(chunks_of(records, options), others, options);
}

TEST(RepositoryChunks, hold_rejections_too) {
  auto records = made_records(12);
  records["app.bsky.feed.post/zzz"] = {0xff};
  records["not-a-path"] = {0xa0};
  const ChunkOptions options;
  const auto chunks = chunks_of(records, options);
  expect_chunks(chunks, records, options);
  std::size_t rejections = 0;
  for (const Chunk& chunk : chunks) {
    rejections += static_cast<std::size_t>(
        std::count_if(chunk.events.begin(), chunk.events.end(), [](const ResolvedEvent& event) {
          return std::holds_alternative<Rejection>(event.event.body);
        }));
  }
  EXPECT_EQ(rejections, 2U);
}

}  // namespace
}  // namespace skua::event::repository_chunks_test
