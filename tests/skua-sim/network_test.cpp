#include "world/network.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "atproto/tid.hpp"
#include "event/frame_decoder.hpp"
#include "skua-sim/heard_network.hpp"
#include "world/subjects.hpp"

namespace skua::sim::network_test {
namespace {

using event::Operation;
using test_cases::HeardNetwork;
using test_cases::small_settings;

/// DIDs that sign with P-256, whose signatures are random.
std::set<std::string> p256_accounts(Network& network) {
  std::set<std::string> found;
  for (const std::string& did : network.dids()) {
    const std::string key =
        network.did_document(did)["verificationMethod"][0]["publicKeyMultibase"];
    if (!key.starts_with("zQ3s")) found.insert(did);
  }
  return found;
}

TEST(Network, collections_are_those_with_a_table_and_two_others) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kCollections; ++i) names.insert(nsid_of(static_cast<Collection>(i)));
  EXPECT_EQ(names.size(), kCollections);
  EXPECT_EQ(nsid_of(Collection::labeler), "app.bsky.labeler.service");
  EXPECT_TRUE(is_singleton(Collection::labeler));
  EXPECT_EQ(nsid_of(Collection::like), "app.bsky.feed.like");
  EXPECT_FALSE(is_singleton(Collection::like));
  EXPECT_FALSE(records::typed_collection_id(nsid_of(Collection::reading_note)));
  EXPECT_FALSE(records::typed_collection_id(nsid_of(Collection::garden_plot)));
}

TEST(Network, follows_from_its_seed) {
  HeardNetwork one(small_settings(3));
  HeardNetwork two(small_settings(3));
  one.steps(1'500);
  two.steps(1'500);
  const auto random_signatures = p256_accounts(one.network());
  EXPECT_EQ(random_signatures.size(), one.network().dids().size() / 10);
  ASSERT_EQ(one.heard().size(), two.heard().size());
  std::size_t compared = 0;
  for (std::size_t i = 0; i < one.heard().size(); ++i) {
    const Message& message = *one.heard()[i].message;
    ASSERT_EQ(message.did, two.heard()[i].message->did) << i;
    ASSERT_EQ(one.heard()[i].host, two.heard()[i].host) << i;
    ASSERT_EQ(message.bytes.size(), two.heard()[i].message->bytes.size()) << i;
    if (random_signatures.contains(message.did)) continue;
    ASSERT_EQ(message.bytes, two.heard()[i].message->bytes) << i;
    ++compared;
  }
  EXPECT_GT(compared, 1'000U);

  HeardNetwork other(small_settings(4));
  EXPECT_NE(other.network().dids(), one.network().dids());
}

TEST(Network, hostile_messages_change_nothing_else) {
  HeardNetwork honest(small_settings(3));
  HeardNetwork provoked(small_settings(3));
  honest.steps(300);
  provoked.steps(100);
  ASSERT_TRUE(provoked.provoke(Hostility::future_rev));
  ASSERT_TRUE(provoked.provoke(Hostility::bad_signature));
  provoked.steps(200);
  EXPECT_EQ(provoked.heard().size(), honest.heard().size() + 2);
  for (const std::string& did : honest.network().dids()) {
    EXPECT_EQ(provoked.network().account(did)->rev, honest.network().account(did)->rev);
  }
}

TEST(Network, every_frame_decodes) {
  HeardNetwork network(small_settings(5));
  const std::size_t events = network.steps(4'000);
  event::FrameDecoder decoder;
  std::map<event::MessageType, std::size_t> types;
  std::size_t decoded_events = 0;
  std::size_t invalid = 0;
  std::size_t most_ops = 0;
  for (std::size_t i = 0; i < network.heard().size(); ++i) {
    event::DecodedFrame frame;
    const auto decoded = decoder.decode(network.frame(i), frame);
    ASSERT_TRUE(decoded) << i << ' ' << decoded.error().message();
    EXPECT_EQ(frame.seq, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(frame.did, network.heard()[i].message->did);
    ++types[frame.type];
    decoded_events += frame.events.size();
    most_ops = std::max(most_ops, frame.events.size());
    for (const auto& event : frame.events) {
      const auto* rejection = std::get_if<event::Rejection>(&event.body);
      ASSERT_EQ(rejection, nullptr) << rejection->what << ": " << rejection->error;
      const auto* change = std::get_if<event::RecordChange>(&event.body);
      if (change != nullptr && change->record.invalid_reason) ++invalid;
    }
  }
  EXPECT_EQ(decoded_events, events);
  for (const auto type : {event::MessageType::Commit, event::MessageType::Sync,
                          event::MessageType::Identity, event::MessageType::Account}) {
    EXPECT_GT(types[type], 0U);
  }
  EXPECT_GT(invalid, 20U);
  EXPECT_GT(most_ops, 20U);
}

TEST(Network, without_oddities_records_are_valid_and_in_the_mix) {
  NetworkSettings settings = small_settings(6);
  settings.accounts = 40;
  settings.records = 4'000;
  settings.oddities = 0;
  settings.keep_records = false;
  HeardNetwork network(settings);
  network.steps(8'000);
  event::FrameDecoder decoder;
  std::map<std::string, double> creates;
  std::map<Operation, double> operations;
  double all = 0;
  for (std::size_t i = 0; i < network.heard().size(); ++i) {
    event::DecodedFrame frame;
    ASSERT_TRUE(decoder.decode(network.frame(i), frame));
    ASSERT_EQ(frame.type, event::MessageType::Commit);
    ++all;
    for (const auto& event : frame.events) {
      const auto& change = std::get<event::RecordChange>(event.body);
      ++operations[change.operation];
      EXPECT_FALSE(change.record.invalid_reason)
          << change.collection << ' ' << *change.record.invalid_reason;
      if (change.operation == Operation::Create) ++creates[change.collection];
    }
  }
  const double created = operations[Operation::Create];
  EXPECT_NEAR(creates["app.bsky.feed.like"] / created, 0.72, 0.015);
  EXPECT_NEAR(creates["app.bsky.feed.post"] / created, 0.10, 0.01);
  EXPECT_NEAR(creates["app.bsky.feed.repost"] / created, 0.10, 0.01);
  EXPECT_NEAR(creates["app.bsky.graph.follow"] / created, 0.07, 0.01);
  const double ops = created + operations[Operation::Update] + operations[Operation::Delete];
  EXPECT_NEAR(operations[Operation::Update] / ops, 0.06, 0.01);
  EXPECT_NEAR(operations[Operation::Delete] / ops, 0.10, 0.01);
  EXPECT_LT(ops / all, 1.3);
  EXPECT_GE(creates.size(), 15U);
}

TEST(Network, every_collection_is_met) {
  NetworkSettings settings = small_settings(7);
  settings.records = 60'000;
  settings.keep_records = false;
  HeardNetwork network(settings);
  std::set<std::string> met;
  for (const std::string& did : network.network().dids()) {
    for (std::string& nsid : network.network().collections(did)) met.insert(std::move(nsid));
  }
  EXPECT_EQ(met.size(), kCollections);
}

/// Which part of all commits the busiest account makes.
double busiest_share(bool even) {
  NetworkSettings settings = small_settings(8);
  settings.accounts = 50;
  settings.oddities = 0;
  settings.even = even;
  HeardNetwork network(settings);
  network.steps(5'000);
  std::map<std::string, int> commits;
  int busiest = 0;
  for (std::size_t i = 0; i < network.heard().size(); ++i) {
    busiest = std::max(busiest, ++commits[std::string(event::peek_frame(network.frame(i))->did)]);
  }
  return busiest / static_cast<double>(network.heard().size());
}

TEST(Network, few_make_most_unless_all_are_to_act_alike) {
  EXPECT_LT(busiest_share(true), 0.035);
  EXPECT_GT(busiest_share(false), 0.045);
}

TEST(Network, references_are_mostly_new_with_many_outsiders) {
  NetworkSettings settings = small_settings(8);
  settings.accounts = 40;
  settings.outsiders = 1'000'000;
  settings.outside_share = 0.8;
  settings.oddities = 0;
  HeardNetwork network(settings);
  network.steps(8'000);
  event::FrameDecoder decoder;
  std::map<std::string, std::size_t> subjects;
  double likes = 0;
  for (std::size_t i = 0; i < network.heard().size(); ++i) {
    event::DecodedFrame frame;
    ASSERT_TRUE(decoder.decode(network.frame(i), frame));
    for (const auto& event : frame.events) {
      const auto* change = std::get_if<event::RecordChange>(&event.body);
      if (change == nullptr) continue;
      const auto* like = std::get_if<records::Like>(&change->record.record);
      if (like == nullptr) continue;
      ++likes;
      ++subjects[std::string(like->subject->did) + "/" + std::string(like->subject->rkey)];
    }
  }
  const double distinct = static_cast<double>(subjects.size());
  EXPECT_GT(distinct / likes, 0.7);
  EXPECT_LT(distinct / likes, 0.95);
}

/// Returns the share of likes whose subject is less than nine hours older than the like.
double share_of_young_subjects(bool recent_posts) {
  NetworkSettings settings = small_settings(9);
  settings.outsiders = 1'000'000;
  settings.outside_share = 1;
  settings.recent_posts = recent_posts;
  HeardNetwork network(settings);
  network.steps(4'000);
  event::FrameDecoder decoder;
  double likes = 0;
  double young = 0;
  for (std::size_t i = 0; i < network.heard().size(); ++i) {
    event::DecodedFrame frame;
    if (!decoder.decode(network.frame(i), frame)) continue;
    for (const auto& event : frame.events) {
      const auto* change = std::get_if<event::RecordChange>(&event.body);
      if (change == nullptr) continue;
      const auto* like = std::get_if<records::Like>(&change->record.record);
      if (like == nullptr || !like->subject) continue;
      const auto written = atproto::Tid::parse(change->rkey);
      const auto subject = atproto::Tid::parse(like->subject->rkey);
      if (!written || !subject) continue;
      ++likes;
      const std::chrono::microseconds age((written->value >> 10) - (subject->value >> 10));
      if (age < std::chrono::hours(9)) ++young;
    }
  }
  return young / likes;
}

TEST(Network, subjects_are_of_all_ages_or_mostly_recent) {
  EXPECT_LT(share_of_young_subjects(false), 0.1);
  EXPECT_GT(share_of_young_subjects(true), 0.4);
  EXPECT_LT(share_of_young_subjects(true), 0.65);
}

}  // namespace
}  // namespace skua::sim::network_test
