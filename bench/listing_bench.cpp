// Reads a repository's CAR into records and chunks, single thread; see bench/README.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <malloc.h>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "atproto/sha256.hpp"
#include "atproto/tid.hpp"
#include "event/json_event.hpp"
#include "event/repository_chunks.hpp"
#include "median.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"
#include "repo/mst_tree.hpp"
#include "repo/repository_listing.hpp"
#include "report.hpp"

namespace {

using namespace skua;

constexpr std::string_view kHelp =
    R"(listing_bench [--quick] [RECORDS]

Reads the CAR of a repository on one thread, and prints records per second; bench/README.md explains
the results. RECORDS is a million, or with --quick 20000, in fewer rounds.

Example: build/release/bin/listing_bench 20000)";

constexpr int kRounds = 5;
constexpr int kQuickRounds = 2;
constexpr std::string_view kDid = "did:plc:madeupmadeupmadeupmadeup";

atproto::Tid tid_of(std::size_t number) {
  return {(std::uint64_t{1'700'000'000'000'000} + number * 60'000'000) << 10U};
}

std::string did_of(std::uint32_t number) {
  return fmt::format("did:plc:{:a>24}", fmt::format("{:o}", number));
}

/// Of ten records: seven likes, a post, a repost, a follow, about the network's mix. No two are
/// equal: a host sends equal records as one block, and a reader refuses a CAR with many repeated
/// blocks.
std::pair<std::string, nlohmann::json> made_record(std::size_t number, std::mt19937& random) {
  const std::string created = "2026-01-02T03:04:05.678Z";
  const std::string rkey = tid_of(number).to_string();
  const auto pick = number % 10;
  if (pick == 0) {
    return {"app.bsky.graph.follow/" + rkey,
            {{"$type", "app.bsky.graph.follow"},
             {"subject", did_of(static_cast<std::uint32_t>(random()))},
             {"createdAt", created}}};
  }
  if (pick == 1) {
    return {"app.bsky.feed.post/" + rkey,
            {{"$type", "app.bsky.feed.post"},
             {"text", fmt::format("{:08} {}", number, std::string(31 + random() % 160, 'x'))},
             {"langs", {"en"}},
             {"createdAt", created}}};
  }
  const std::string collection = pick == 2 ? "app.bsky.feed.repost" : "app.bsky.feed.like";
  const std::string uri = "at://" + did_of(static_cast<std::uint32_t>(random())) +
                          "/app.bsky.feed.post/" + tid_of(random()).to_string();
  return {collection + "/" + rkey,
          {{"$type", collection},
           {"subject", {{"uri", uri}, {"cid", atproto::Cid::of(as_bytes(uri)).to_string()}}},
           {"createdAt", created}}};
}

/// The order of blocks in a CAR: nodes, then records by key; or random, as after an import of an
/// account.
enum class Order { ByKey, None };

Bytes made_car(std::size_t records, Order order) {
  std::mt19937 random(1);
  std::map<std::string, Bytes> made;
  for (std::size_t i = 0; i < records; ++i) {
    const auto [path, record] = made_record(i, random);
    made.emplace(path, *event::json_to_dag_cbor(record));
  }
  std::vector<std::pair<std::string, atproto::Cid>> entries;
  for (const auto& [path, block] : made) entries.emplace_back(path, atproto::Cid::of(block));
  const repo::BuiltMst tree = repo::build_mst(entries);
  std::vector<ByteView> blocks;
  for (const auto& [cid, node] : tree.blocks) blocks.emplace_back(node);
  for (const auto& [path, block] : made) blocks.emplace_back(block);
  if (order == Order::None) std::shuffle(blocks.begin(), blocks.end(), random);

  repo::Commit commit;
  commit.did = kDid;
  commit.data = tree.root;
  commit.rev = tid_of(records);
  const Bytes signature(64);
  commit.signature = signature;
  const Bytes commit_block = repo::commit_bytes(commit);
  Bytes car;
  repo::CarWriter writer(car, std::array{atproto::Cid::of(commit_block)});
  writer.block(commit_block);
  for (const ByteView block : blocks) writer.block(block);
  return car;
}

/// CPU seconds of `pass`.
template <class F>
double measure(F&& pass) {
  const std::clock_t start = std::clock();
  pass();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// A line of /proc/self/status, in MB.
double memory(std::string_view field) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(field)) return std::strtod(line.c_str() + field.size(), nullptr) / 1024;
  }
  return 0;
}

/// The additional memory of the process at its peak while `pass` runs, in MB.
template <class F>
double most_memory(F&& pass) {
  malloc_trim(0);
  // Resets the peak (proc(5)).
  std::ofstream("/proc/self/clear_refs") << '5';
  const double before = memory("VmRSS:");
  pass();
  return memory("VmHWM:") - before;
}

int run(std::size_t records, int rounds, Order order) {
  bench::Report report{"hashes only", "listing", "ratio", "chunks", "memory"};
  const Bytes car = made_car(records, order);
  fmt::print("{} records, {:.0f} MB, {}\n", records, static_cast<double>(car.size()) / 1e6,
             order == Order::ByKey ? "records in key order" : "blocks in no order");
  std::error_code error;
  const double opening = most_memory([&] {
    if (const auto listing = repo::RepositoryListing::open(car); !listing) error = listing.error();
  });
  if (error) {
    report.fail("the CAR was refused: " + error.message());
    return report.finish();
  }

  bool good = true;
  unsigned sink = 0;
  std::vector<double> hashed;
  std::vector<double> opened;
  std::vector<double> decoded;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    hashed.push_back(measure([&] {
      auto reader = repo::CarReader::open(car);
      for (auto block = reader->next(); block && *block; block = reader->next()) {
        sink += atproto::sha256((*block)->data)[0];
      }
    }));
    opened.push_back(measure([&] {
      const auto listing = repo::RepositoryListing::open(car);
      good = good && listing && listing->size() == records;
    }));
    ratios.push_back(hashed.back() / opened.back());
    const auto listing = repo::RepositoryListing::open(car);
    decoded.push_back(measure([&] {
      event::RepositoryChunks chunks(*listing, std::string(kDid), *listing->commit().rev, 1);
      std::size_t events = 0;
      while (const auto chunk = chunks.next()) events += chunk->events.size();
      good = good && events == records;
    }));
  }
  const auto rate = [&](const std::vector<double>& seconds) {
    return static_cast<double>(records) / bench::median(seconds);
  };
  fmt::print("hashes only {:>10} records/s  (the limit, median of {} rounds)\n",
             report.figure("hashes only", rate(hashed)), rounds);
  fmt::print("listing     {:>10} records/s\n", report.figure("listing", rate(opened)));
  fmt::print("ratio       {:>10}\n", report.figure("ratio", bench::median(ratios), 2));
  fmt::print("chunks      {:>10} records/s\n", report.figure("chunks", rate(decoded)));
  fmt::print("memory      {:>10} MB beside the CAR\n", report.figure("memory", opening));
  // Uses the result, so that the compiler cannot remove a loop.
  if (!good || sink == 1) report.fail("a record was not read correctly");
  return report.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = bench::Arguments::parse(argc, argv, kHelp);
  const std::size_t records = arguments.number(1'000'000, 20'000);
  const int rounds = arguments.quick ? kQuickRounds : kRounds;
  const int by_key = run(records, rounds, Order::ByKey);
  const int in_no_order = run(records, rounds, Order::None);
  return std::max(by_key, in_no_order);
}
