#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "event/frame_decoder.hpp"
#include "repo/mst_reader.hpp"
#include "repo/repository_listing.hpp"
#include "skua-sim/heard_network.hpp"
#include "world/network.hpp"

namespace skua::sim::oracle_test {
namespace {

using nlohmann::json;
using test_cases::HeardNetwork;
using test_cases::small_settings;

/// What a listener knows of an account.
struct Known {
  std::map<std::string, std::string> records;
  std::optional<std::string> handle;
  std::optional<std::string> status;
};

std::map<std::string, Known> fold(const HeardNetwork& network) {
  std::map<std::string, Known> accounts;
  event::FrameDecoder decoder;
  for (std::size_t i = 0; i < network.heard().size(); ++i) {
    event::DecodedFrame frame;
    EXPECT_TRUE(decoder.decode(network.frame(i), frame));
    Known& known = accounts[frame.did];
    for (const auto& event : frame.events) {
      if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
        const std::string path = change->collection + "/" + change->rkey;
        if (change->cid) {
          known.records[path] = change->cid->to_string();
        } else {
          EXPECT_EQ(known.records.erase(path), 1U) << path;
        }
      } else if (const auto* identity = std::get_if<event::IdentityChange>(&event.body)) {
        known.handle = identity->handle;
      } else if (const auto* account = std::get_if<event::AccountChange>(&event.body)) {
        known.status = account->active ? "active" : account->status;
      }
    }
  }
  return accounts;
}

std::map<std::string, std::string> records_of(ByteView car, const std::string& head) {
  std::map<std::string, std::string> records;
  const auto repository = repo::open_repository(car);
  EXPECT_TRUE(repository);
  if (!repository) return records;
  EXPECT_EQ(repository->car.roots.at(0).to_string(), head);
  const auto walk = repo::walk_mst(repository->commit.data, repository->car.blocks,
                                   [&](std::string_view path, const atproto::Cid& cid) {
                                     EXPECT_TRUE(repository->car.blocks.contains(cid.digest))
                                         << path;
                                     records.emplace(path, cid.to_string());
                                   });
  EXPECT_TRUE(walk);
  EXPECT_EQ(walk->missing_nodes, 0U);
  return records;
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Oracle : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Oracle, is_what_the_messages_say) {
  HeardNetwork network(small_settings(GetParam()));
  network.steps(4'000);
  auto heard = fold(network);
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / ("oracle-" + std::to_string(GetParam()));
  network.network().dump(directory);

  const Bytes text = read_file(directory / "accounts.json");
  const json accounts = json::parse(text.begin(), text.end());
  ASSERT_EQ(accounts.size(), network.network().dids().size());
  std::set<std::string> statuses;
  for (const json& account : accounts) {
    const std::string did = account.at("did");
    const Known& known = heard[did];
    EXPECT_EQ(account.at("announced_handle"), known.handle ? json(*known.handle) : json());
    EXPECT_EQ(account.at("claims").empty(), !known.handle);
    if (known.handle) {
      const json& claims = account.at("claims");
      ASSERT_TRUE(claims.contains(*known.handle));
      // Of all that it ever announced, what it announced last.
      for (const auto& [handle, time] : claims.items()) EXPECT_LE(time, claims.at(*known.handle));
    }
    EXPECT_EQ(account.at("announced_status"), known.status ? json(*known.status) : json());
    EXPECT_EQ(account.at("active"), account.at("status") == "active");
    statuses.insert(account.at("status"));
    const Bytes car = read_file(directory / (did + ".car"));
    EXPECT_EQ(records_of(car, account.at("head")), known.records) << did;
    EXPECT_EQ(account.at("records"), known.records.size());
    EXPECT_EQ(network.network().repository(did, ""), car);
  }
  EXPECT_GE(statuses.size(), 2U);
  std::filesystem::remove_all(directory);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Oracle, testing::Values(11, 12, 13));

TEST(Repository, since_leaves_old_records_out) {
  HeardNetwork network(small_settings(14));
  network.steps(500);
  const std::string did = network.heard().back().message->did;
  const auto before = network.network().account(did);
  network.steps(500);
  const auto after = network.network().account(did);
  ASSERT_GT(after->records, before->records);
  const Bytes car = *network.network().repository(did, before->rev);
  EXPECT_LT(car.size(), network.network().repository(did, "")->size());
  const auto repository = repo::open_repository(car);
  ASSERT_TRUE(repository);
  std::size_t sent = 0;
  const auto walk = repo::walk_mst(repository->commit.data, repository->car.blocks,
                                   [&](std::string_view, const atproto::Cid& cid) {
                                     sent += repository->car.blocks.count(cid.digest);
                                   });
  ASSERT_TRUE(walk);
  EXPECT_EQ(walk->entries, after->records);
  EXPECT_EQ(walk->missing_nodes, 0U);
  EXPECT_GE(sent, after->records - before->records);
  EXPECT_LT(sent, after->records);
}

TEST(Repository, is_not_there_without_records) {
  NetworkSettings settings = small_settings(15);
  settings.keep_records = false;
  HeardNetwork network(settings);
  const std::string did = network.network().dids().front();
  EXPECT_EQ(network.network().repository(did, ""), std::nullopt);
  EXPECT_EQ(network.network().repository("did:plc:nobody", ""), std::nullopt);
  EXPECT_THROW(network.network().dump(testing::TempDir()), std::runtime_error);
}

}  // namespace
}  // namespace skua::sim::oracle_test
