#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "atproto/signing.hpp"
#include "atproto/tid.hpp"
#include "event/frame_decoder.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/errc.hpp"
#include "skua-sim/heard_network.hpp"
#include "world/network.hpp"

namespace skua::sim::hostility_test {
namespace {

using test_cases::HeardNetwork;
using test_cases::OpenFrame;
using test_cases::small_settings;

/// Provokes, and finds the honest message that the hostile one was made from.
class Hostile : public testing::Test {
 protected:
  void provoke(Hostility kind) {
    network_.steps(200);
    ASSERT_TRUE(network_.provoke(kind));
    hostile_index_ = network_.heard().size() - 1;
    const std::string& did = network_.heard().back().message->did;
    for (std::size_t i = hostile_index_; i-- > 0;) {
      if (network_.heard()[i].message->did != did) continue;
      if (network_.open(i).type() != "#commit") continue;
      honest_index_ = i;
      return;
    }
    FAIL() << "no honest commit of " << did;
  }

  const Message& honest() const { return *network_.heard()[honest_index_].message; }
  const Message& hostile() const { return *network_.heard()[hostile_index_].message; }
  OpenFrame open_honest() const { return network_.open(honest_index_); }
  OpenFrame open_hostile() const { return network_.open(hostile_index_); }

  static void expect_same(const OpenFrame& a, const OpenFrame& b,
                          std::initializer_list<std::string_view> fields) {
    for (const std::string_view name : fields) {
      Bytes first;
      Bytes second;
      repo::CborWriter(first).value(a.field(name));
      repo::CborWriter(second).value(b.field(name));
      EXPECT_EQ(first, second) << name;
    }
  }

  bool signature_is_right(const OpenFrame& frame) {
    const auto commit = read(frame);
    const std::string did(frame.field("repo").string());
    const auto document = network_.network().did_document(did);
    const std::string multikey = document["verificationMethod"][0]["publicKeyMultibase"];
    const auto key = atproto::VerifyingKey::from_multikey(*atproto::Multikey::parse(multikey));
    return static_cast<bool>(key->verify(repo::unsigned_commit_bytes(commit), commit.signature));
  }

  /// The commit object; every block must be what its CID says.
  repo::Commit read(const OpenFrame& frame) {
    EXPECT_TRUE(repo::load_car(frame.field("blocks").bytes(), car_));
    EXPECT_EQ(car_.roots.at(0), frame.field("commit").link());
    return repo::decode_commit(car_.blocks.at(car_.roots.at(0).digest)).value();
  }

  HeardNetwork network_{small_settings(30)};
  std::size_t honest_index_ = 0;
  std::size_t hostile_index_ = 0;
  repo::LoadedCar car_;
};

TEST_F(Hostile, truncated_frame_ends_in_the_middle) {
  provoke(Hostility::truncated_frame);
  ASSERT_LT(hostile().bytes.size(), honest().bytes.size());
  EXPECT_GT(hostile().bytes.size(), *hostile().seq_at);
  EXPECT_TRUE(std::equal(hostile().bytes.begin(), hostile().bytes.end(), honest().bytes.begin()));
  event::FrameDecoder decoder;
  event::DecodedFrame frame;
  EXPECT_EQ(decoder.decode(network_.frame(hostile_index_), frame).error(),
            repo::errc::cbor_truncated);
}

TEST_F(Hostile, bad_hash_is_one_bit_of_a_record) {
  provoke(Hostility::bad_hash);
  ASSERT_EQ(hostile().bytes.size(), honest().bytes.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < honest().bytes.size(); ++i) {
    if (hostile().bytes[i] != honest().bytes[i]) ++different;
  }
  EXPECT_EQ(different, 1U);
  event::FrameDecoder decoder;
  event::DecodedFrame frame;
  EXPECT_EQ(decoder.decode(network_.frame(hostile_index_), frame).error(),
            repo::errc::car_hash_mismatch);
}

/// Not ignored as old news: the revision after the newest.
void expect_next_rev(const OpenFrame& good, const OpenFrame& bad) {
  const auto rev = atproto::Tid::parse(good.field("rev").string());
  EXPECT_EQ(atproto::Tid::parse(bad.field("rev").string())->value, rev->value + 1);
}

TEST_F(Hostile, bad_signature_is_all_that_is_wrong) {
  provoke(Hostility::bad_signature);
  const OpenFrame good = open_honest();
  const OpenFrame bad = open_hostile();
  EXPECT_TRUE(signature_is_right(good));
  EXPECT_FALSE(signature_is_right(bad));
  EXPECT_NE(good.field("commit").link(), bad.field("commit").link());
  expect_same(good, bad, {"ops", "repo", "since", "prevData"});
  expect_next_rev(good, bad);
}

TEST_F(Hostile, wrong_prev_data_is_all_that_is_wrong) {
  provoke(Hostility::wrong_prev_data);
  const OpenFrame good = open_honest();
  const OpenFrame bad = open_hostile();
  EXPECT_TRUE(signature_is_right(bad));
  EXPECT_NE(good.field("prevData").link(), bad.field("prevData").link());
  expect_same(good, bad, {"ops", "repo", "since"});
  expect_next_rev(good, bad);
}

TEST_F(Hostile, replay_is_the_same_message) {
  provoke(Hostility::replayed_rev);
  EXPECT_EQ(hostile().bytes, honest().bytes);
}

TEST_F(Hostile, future_rev_is_signed_and_an_hour_ahead) {
  provoke(Hostility::future_rev);
  const OpenFrame good = open_honest();
  const OpenFrame bad = open_hostile();
  EXPECT_TRUE(signature_is_right(bad));
  const repo::Commit commit = read(bad);
  EXPECT_EQ(commit.rev->to_string(), bad.field("rev").string());
  EXPECT_EQ(commit.rev->time(), network_.now() + std::chrono::hours(1));
  expect_same(good, bad, {"ops", "repo", "since", "prevData"});
  const auto data = commit.data;
  EXPECT_EQ(data, read(good).data);
}

TEST_F(Hostile, commit_in_the_name_of_another_is_signed_and_as_large_as_wished) {
  const std::string did = "did:web:localhost%3A1234";
  constexpr std::size_t kBytes = 900'000;
  network_.steps(200);
  ASSERT_TRUE(network_.network().provoke_as(did, kBytes, network_.now()));
  hostile_index_ = network_.heard().size() - 1;
  const OpenFrame bad = open_hostile();
  EXPECT_EQ(bad.field("repo").string(), did);
  EXPECT_EQ(read(bad).did, did);
  EXPECT_GT(bad.bytes().size(), kBytes);
  EXPECT_FALSE(hostile().honest);
  event::FrameDecoder decoder;
  event::DecodedFrame frame;
  EXPECT_TRUE(decoder.decode(network_.frame(hostile_index_), frame));
}

TEST(Hostility, needs_a_commit) {
  HeardNetwork network(small_settings(31));
  EXPECT_FALSE(network.provoke(Hostility::replayed_rev));
  EXPECT_TRUE(network.heard().empty());
}

}  // namespace
}  // namespace skua::sim::hostility_test
