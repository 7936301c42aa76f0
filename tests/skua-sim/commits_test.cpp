#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "atproto/signing.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"
#include "repo/mst_tree.hpp"
#include "skua-sim/heard_network.hpp"
#include "world/network.hpp"

namespace skua::sim::commits_test {
namespace {

using atproto::Cid;
using test_cases::Heard;
using test_cases::HeardNetwork;
using test_cases::OpenFrame;
using test_cases::small_settings;

/// Checks commits and syncs as they are heard, against what the directory says at that moment.
class CommitCheck {
 public:
  void heard(Network& network, const Heard& heard) {
    const OpenFrame frame(numbered(*heard.message, 1));
    if (frame.type() == "#sync") return check_sync(network, frame);
    if (frame.type() != "#commit") return;
    repo::LoadedCar car;
    ASSERT_TRUE(repo::load_car(frame.field("blocks").bytes(), car));
    const Cid root = frame.field("commit").link();
    ASSERT_EQ(car.roots, std::vector{root});
    const auto commit = repo::decode_commit(car.blocks.at(root.digest));
    ASSERT_TRUE(commit);
    const std::string did(frame.field("repo").string());
    ASSERT_EQ(commit->did, did);
    ASSERT_EQ(commit->version, 3);
    ASSERT_EQ(commit->rev->to_string(), frame.field("rev").string());
    check_signature(network, did, *commit);
    check_chain(frame, did, *commit);
    check_inversion(frame, car, *commit);
    ++commits;
  }

  std::size_t commits = 0;
  std::size_t syncs = 0;
  std::size_t first_commits = 0;
  std::size_t repeated_keys = 0;
  std::size_t p256 = 0;

 private:
  struct Last {
    std::string rev;
    Cid data;
  };

  void check_signature(Network& network, const std::string& did, const repo::Commit& commit) {
    const std::string multikey =
        network.did_document(did)["verificationMethod"][0]["publicKeyMultibase"];
    const auto key = atproto::Multikey::parse(multikey);
    ASSERT_TRUE(key);
    if (key->curve == atproto::Curve::p256) ++p256;
    const auto verifying = atproto::VerifyingKey::from_multikey(*key);
    ASSERT_TRUE(verifying->verify(repo::unsigned_commit_bytes(commit), commit.signature));
  }

  void check_sync(Network& network, const OpenFrame& frame) {
    repo::LoadedCar car;
    ASSERT_TRUE(repo::load_car(frame.field("blocks").bytes(), car));
    const auto view = network.account(frame.field("did").string());
    EXPECT_EQ(car.roots.at(0).to_string(), view->head);
    EXPECT_EQ(frame.field("rev").string(), view->rev);
    ++syncs;
  }

  /// `since` and `prevData` are where the last commit led to; revs rise.
  void check_chain(const OpenFrame& frame, const std::string& did, const repo::Commit& commit) {
    const std::string rev(frame.field("rev").string());
    const auto last = last_.find(did);
    if (last == last_.end()) {
      ASSERT_TRUE(frame.field("since").is_null());
      ASSERT_FALSE(frame.body().find("prevData"));
      ++first_commits;
    } else {
      ASSERT_EQ(frame.field("since").string(), last->second.rev);
      ASSERT_EQ(frame.field("prevData").link(), last->second.data);
      ASSERT_GT(rev, last->second.rev);
    }
    last_[did] = {rev, commit.data};
  }

  void check_inversion(const OpenFrame& frame, const repo::LoadedCar& car,
                       const repo::Commit& commit) {
    const auto prev_data = frame.body().find("prevData");
    std::vector<atproto::Value> ops;
    std::set<std::string_view> paths;
    for (const auto op : frame.field("ops").items()) {
      ops.push_back(op);
      if (!paths.insert(op.find("path")->string()).second) ++repeated_keys;
    }
    if (ops.empty()) {
      if (prev_data) {
        ASSERT_EQ(commit.data, prev_data->link());
      }
      return;
    }
    auto tree = repo::MstTree::open(commit.data, car.blocks);
    ASSERT_TRUE(tree) << tree.error().message();
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      const std::string_view path = op->find("path")->string();
      const std::string_view action = op->find("action")->string();
      const auto prev = op->find("prev");
      ASSERT_EQ(action != "create", prev.has_value());
      const auto undone = prev ? tree->set(path, prev->link()) : tree->remove(path);
      ASSERT_TRUE(undone) << path << ' ' << undone.error().message();
      const auto cid = op->find("cid");
      ASSERT_EQ(*undone, cid->is_null() ? std::nullopt : std::optional(cid->link()));
      if (!cid->is_null()) {
        ASSERT_TRUE(car.blocks.contains(cid->link().digest));
      }
    }
    ASSERT_EQ(tree->root(), prev_data->link());
  }

  std::map<std::string, Last> last_;
};

TEST(Commits, are_signed_chained_and_can_be_undone) {
  CommitCheck check;
  Network* heard_in = nullptr;
  HeardNetwork network(small_settings(9),
                       [&](const Heard& heard) { check.heard(*heard_in, heard); });
  heard_in = &network.network();
  network.steps(3'000);
  EXPECT_GT(check.commits, 2'500U);
  EXPECT_GE(check.first_commits, 12U);
  EXPECT_GT(check.syncs, 5U);
  EXPECT_GT(check.repeated_keys, 20U);
  EXPECT_GT(check.p256, 50U);
}

TEST(Commits, frames_are_of_real_size) {
  NetworkSettings settings = small_settings(10);
  settings.accounts = 40;
  settings.records = 40'000;
  settings.oddities = 1;
  settings.keep_records = false;
  HeardNetwork network(settings);
  network.steps(3'000);
  double bytes = 0;
  for (const Heard& heard : network.heard())
    bytes += static_cast<double>(heard.message->bytes.size());
  // The network's are 4.9 kB. Trees of few accounts are lower than those of thousands, where the
  // busiest have tens of thousands of records.
  const double mean = bytes / static_cast<double>(network.heard().size());
  EXPECT_GT(mean, 3'900);
  EXPECT_LT(mean, 5'200);
}

}  // namespace
}  // namespace skua::sim::commits_test
