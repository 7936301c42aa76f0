#include "backfill/repository/unfinished_repositories.hpp"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "repo/made_repository.hpp"

namespace skua::backfill::unfinished_repositories_test {
namespace {

using namespace std::chrono_literals;

/// No test runs this long, so such a wait ends only by an event.
constexpr auto kForEver = 24h;

class UnfinishedRepositoriesTest : public testing::Test {
 protected:
  UnfinishedRepositories::Id begin(const std::string& did) {
    FetchedRepository fetched;
    fetched.job.did = did;
    return unfinished_.begin(std::make_unique<UnfinishedRepository>(
        UnfinishedRepository{std::move(fetched), *repo::RepositoryListing::open(car_)}));
  }
  std::vector<std::string> take(std::size_t limit, std::chrono::milliseconds wait = kForEver,
                                std::chrono::milliseconds linger = kForEver) {
    std::vector<std::string> dids;
    for (const auto& ready : unfinished_.take_ready(limit, wait, linger, stop_.get_token())) {
      dids.push_back(ready->fetched.job.did);
    }
    return dids;
  }

  const Bytes car_ = repo::test_cases::made_repository(1, 3);
  UnfinishedRepositories unfinished_{1'000};
  std::stop_source stop_;
};

using Dids = std::vector<std::string>;

TEST_F(UnfinishedRepositoriesTest, one_is_ready_when_it_is_complete_and_its_chunks_are_durable) {
  const auto id = begin("did:plc:a");
  ASSERT_TRUE(unfinished_.add_chunk(id, 10, stop_.get_token()));
  ASSERT_TRUE(unfinished_.add_chunk(id, 10, stop_.get_token()));
  unfinished_.written(id, 10);
  unfinished_.complete(id);
  EXPECT_EQ(take(9, 0ms), Dids{});
  EXPECT_EQ(unfinished_.size(), 1U);
  unfinished_.written(id, 10);
  EXPECT_EQ(take(9), Dids{"did:plc:a"});
  EXPECT_EQ(unfinished_.size(), 0U);
}

TEST_F(UnfinishedRepositoriesTest, as_many_as_may_be_taken_wait_for_no_more) {
  const auto a = begin("did:plc:a");
  const auto b = begin("did:plc:b");
  begin("did:plc:c");
  unfinished_.complete(b);
  unfinished_.complete(a);
  EXPECT_EQ(take(2), (Dids{"did:plc:b", "did:plc:a"}));
}

TEST_F(UnfinishedRepositoriesTest, what_is_ready_does_not_wait_longer_than_asked) {
  const auto a = begin("did:plc:a");
  begin("did:plc:b");
  unfinished_.complete(a);
  EXPECT_EQ(take(9, kForEver, 1ms), Dids{"did:plc:a"});
}

TEST_F(UnfinishedRepositoriesTest, what_is_ready_waits_for_what_is_begun) {
  const auto a = begin("did:plc:a");
  const auto b = begin("did:plc:b");
  unfinished_.complete(a);
  const std::jthread other([&] { unfinished_.complete(b); });
  EXPECT_EQ(take(9), (Dids{"did:plc:a", "did:plc:b"}));
}

TEST_F(UnfinishedRepositoriesTest, a_stop_ends_every_wait) {
  const auto a = begin("did:plc:a");
  begin("did:plc:b");
  ASSERT_TRUE(unfinished_.add_chunk(a, 1'000, stop_.get_token()));
  {
    const std::jthread other([&] { stop_.request_stop(); });
    EXPECT_FALSE(unfinished_.add_chunk(a, 1, stop_.get_token()));
  }
  EXPECT_EQ(take(9), Dids{});
  unfinished_.written(a, 1'000);
  unfinished_.complete(a);
  EXPECT_EQ(take(9), Dids{"did:plc:a"});
}

}  // namespace
}  // namespace skua::backfill::unfinished_repositories_test
