#include "verify/known_repositories.hpp"

#include <array>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "support/manual_clock.hpp"

namespace skua::verify::known_repositories_test {
namespace {

using namespace std::chrono_literals;

DidHash did(int number) {
  return DidHash::of("did:plc:" + std::to_string(number));
}

atproto::RepositoryHead link(std::uint64_t rev) {
  return {{rev}, atproto::Cid::of(as_bytes("tree " + std::to_string(rev)))};
}

KnownRepository at(std::uint64_t rev) {
  KnownRepository repository;
  repository.set_head(link(rev));
  return repository;
}

atproto::SigningKey signing_key(atproto::Curve curve, unsigned char secret) {
  std::array<std::uint8_t, 32> bytes{};
  bytes.fill(secret);
  return *atproto::SigningKey::from_bytes(curve, bytes);
}

TEST(DidHash, tells_dids_apart) {
  EXPECT_EQ(did(1), did(1));
  EXPECT_FALSE(did(1) == did(2));
  // Both halves are the hash's own: half of it would be easy to find twice.
  EXPECT_NE(did(1).halves[0], did(1).halves[1]);
  EXPECT_NE(did(1).halves[0], did(2).halves[0]);
  EXPECT_NE(did(1).halves[1], did(2).halves[1]);
}

TEST(KnownRepository, is_new_and_active_until_told_otherwise) {
  KnownRepository repository;
  EXPECT_EQ(repository.state().head, std::nullopt);
  EXPECT_TRUE(repository.state().active);
  EXPECT_EQ(repository.key(), std::nullopt);
  repository.set_head(link(7));
  repository.set_active(false);
  EXPECT_EQ(repository.state().head, link(7));
  EXPECT_FALSE(repository.state().active);
  EXPECT_FALSE(repository.active());
}

TEST(KnownRepository, knows_how_old_its_key_is_by_the_minute) {
  test::ManualClock clock;
  KnownRepository repository;
  const auto key = signing_key(atproto::Curve::k256, 7).public_key();
  repository.set_key(key, clock.now());
  EXPECT_EQ(repository.key(), key);
  EXPECT_EQ(repository.key_age(clock.now()), 0min);
  clock.advance(59s);
  EXPECT_EQ(repository.key_age(clock.now()), 0min);
  clock.advance(1s);
  EXPECT_EQ(repository.key_age(clock.now()), 1min);
  clock.advance(std::chrono::hours(24 * 365));
  EXPECT_EQ(repository.key_age(clock.now()), std::chrono::hours(24 * 365) + 1min);
  repository.set_key(std::nullopt, clock.now());
  EXPECT_EQ(repository.key(), std::nullopt);
  EXPECT_EQ(repository.key_age(clock.now()), 0min);
}

TEST(KnownRepository, takes_a_key_for_old_when_the_clock_was_set_back) {
  test::ManualClock clock;
  KnownRepository repository;
  repository.set_key(std::nullopt, clock.now() + 1h);
  EXPECT_EQ(repository.key_age(clock.now()), std::chrono::minutes::max());
}

TEST(KnownRepositories, replaces_what_it_knows_of_a_did) {
  KnownRepositories known(10);
  EXPECT_EQ(known.find(did(1)), nullptr);
  known.put(did(1), at(5));
  known.find(did(1))->set_active(false);
  EXPECT_FALSE(known.find(did(1))->active());
  known.put(did(1), at(6));
  EXPECT_EQ(known.find(did(1))->state().head, link(6));
  EXPECT_TRUE(known.find(did(1))->active());
  EXPECT_EQ(known.size(), 1U);
}

TEST(KnownRepositories, keeps_what_is_used_and_forgets_the_rest) {
  KnownRepositories known(100);
  known.put(did(0), at(1));
  for (int i = 1; i <= 1'000; ++i) {
    known.put(did(i), at(static_cast<std::uint64_t>(i)));
    if (i % 40 == 0) {
      ASSERT_NE(known.find(did(0)), nullptr) << i;
      known.find(did(0))->set_head(link(static_cast<std::uint64_t>(i)));
    }
    ASSERT_LE(known.size(), 100U);
  }
  EXPECT_EQ(known.find(did(0))->state().head, link(1'000));
  EXPECT_EQ(known.find(did(1)), nullptr);
  // At least half of the capacity is remembered, newest first.
  for (int i = 1'000; i > 951; --i) EXPECT_NE(known.find(did(i)), nullptr) << i;
}

TEST(KnownRepositories, one_put_again_is_not_remembered_twice) {
  KnownRepositories known(4);
  known.put(did(1), at(1));
  known.put(did(2), at(1));
  known.put(did(3), at(1));  // 1 and 2 are old now
  known.put(did(1), at(9));
  EXPECT_EQ(known.size(), 3U);
  EXPECT_EQ(known.find(did(1))->state().head, link(9));
}

/// Compares the object with a map that forgets nothing. All known states are right, and the latest
/// states, up to half of the capacity, are known.
class KnownRepositoriesUse : public testing::TestWithParam<unsigned> {};

TEST_P(KnownRepositoriesUse, is_never_wrong) {
  std::mt19937 random(GetParam());
  const std::size_t capacity = 2 * std::uniform_int_distribution<std::size_t>(1, 20)(random);
  KnownRepositories known(capacity);
  std::map<int, std::uint64_t> all;
  std::vector<int> used;  // newest last, each once
  for (std::uint64_t step = 1; step <= 3'000; ++step) {
    const int number = std::uniform_int_distribution<int>(0, 60)(random);
    const auto recent = std::find(used.begin(), used.end(), number);
    const bool must_be_known =
        recent != used.end() && static_cast<std::size_t>(used.end() - recent) <= capacity / 2;
    KnownRepository* found = known.find(did(number));
    if (must_be_known) {
      ASSERT_NE(found, nullptr) << step;
    }
    if (found != nullptr) {
      ASSERT_EQ(found->state().head, link(all.at(number))) << step;
      found->set_head(link(step));
    } else {
      ASSERT_EQ(known.put(did(number), at(step))->state().head, link(step));
    }
    all[number] = step;
    if (recent != used.end()) used.erase(recent);
    used.push_back(number);
    ASSERT_LE(known.size(), capacity);
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, KnownRepositoriesUse, testing::Range(1U, 9U));

TEST(KnownRepositories, parses_keys_of_both_curves) {
  KnownRepositories known(10);
  for (const auto curve : {atproto::Curve::k256, atproto::Curve::p256}) {
    const auto signer = signing_key(curve, 7);
    const Bytes message = {1, 2, 3};
    for (int again = 0; again < 2; ++again) {
      const auto* key = known.parsed_key(signer.public_key());
      ASSERT_NE(key, nullptr);
      EXPECT_EQ(key->multikey(), signer.public_key());
      EXPECT_TRUE(key->verify(message, signer.sign(message)));
    }
  }
}

TEST(KnownRepositories, a_key_that_is_no_point_is_none_each_time) {
  KnownRepositories known(10);
  auto key = signing_key(atproto::Curve::k256, 7).public_key();
  const auto good = key;
  key.point[0] = 9;
  EXPECT_EQ(known.parsed_key(key), nullptr);
  EXPECT_EQ(known.parsed_key(key), nullptr);
  // The same bytes on the other curve, or with the other sign, are other keys.
  EXPECT_NE(known.parsed_key(good), nullptr);
  auto mirrored = good;
  mirrored.point[0] ^= 1;
  ASSERT_NE(known.parsed_key(mirrored), nullptr);
  EXPECT_EQ(known.parsed_key(mirrored)->multikey(), mirrored);
}

}  // namespace
}  // namespace skua::verify::known_repositories_test
