#include <array>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "atproto/signing.hpp"
#include "backfill/repository/run_job.hpp"
#include "base/bytes.hpp"
#include "repo/made_repository.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::backfill::repository_check_test {
namespace {

constexpr std::uint32_t kSeed = 5;

documents::Account account_of(std::uint8_t secret_byte) {
  std::array<std::uint8_t, 32> secret{};
  secret.fill(secret_byte);
  const auto key = atproto::SigningKey::from_bytes(atproto::Curve::k256, secret);
  return {.key = key->public_key()};
}

class RepositoryCheckTest : public testing::Test {
 protected:
  RepositoryCheckTest() {
    fetched_.job.did = "did:plc:madeupmadeupmadeupmadeup";
    fetched_.car = car_;
    // With this key `made_repository` signs.
    fetched_.account = account_of(1);
  }
  RepositoryCheck check() const { return check_repository(fetched_, now_); }
  std::string failure() const {
    const RepositoryCheck result = check();
    EXPECT_FALSE(result.listing);
    return result.failure;
  }

  const Bytes car_ = repo::test_cases::made_repository(kSeed, 3);
  const atproto::Tid rev_{kSeed + 1};
  Timestamp now_ = rev_.time();
  FetchedRepository fetched_;
};

TEST_F(RepositoryCheckTest, an_intact_repository_is_listed) {
  const RepositoryCheck result = check();
  ASSERT_TRUE(result.listing) << result.failure;
  EXPECT_EQ(result.listing->size(), 3U);
  EXPECT_EQ(result.listing->commit().rev, rev_);
}

TEST_F(RepositoryCheckTest, a_car_with_a_changed_byte_cannot_be_used) {
  Bytes changed = car_;
  changed.back() ^= 1;
  fetched_.car = changed;
  EXPECT_EQ(failure().find("the CAR cannot be used: "), 0U) << failure();
  EXPECT_FALSE(check().has_other_key);
}

TEST_F(RepositoryCheckTest, the_repository_of_another_account_is_refused) {
  fetched_.job.did = "did:plc:alice";
  EXPECT_EQ(failure(),
            "the CAR is the repository of another account, did:plc:madeupmadeupmadeupmadeup");
}

TEST_F(RepositoryCheckTest, a_revision_from_the_future_is_refused) {
  now_ = rev_.time() - verify::kFuture;
  EXPECT_TRUE(check().listing);
  now_ -= std::chrono::microseconds(1);
  EXPECT_NE(failure().find("is from the future"), std::string::npos) << failure();
}

TEST_F(RepositoryCheckTest, a_car_that_is_older_than_the_stored_head_is_refused) {
  fetched_.known = rev_;
  EXPECT_TRUE(check().listing);
  fetched_.known = atproto::Tid{kSeed + 2};
  EXPECT_EQ(failure().find("stale: "), 0U) << failure();
}

TEST_F(RepositoryCheckTest, another_key_may_be_an_old_document) {
  fetched_.account = account_of(2);
  const RepositoryCheck result = check();
  EXPECT_FALSE(result.listing);
  EXPECT_TRUE(result.has_other_key);
  EXPECT_EQ(result.failure.find("the repository is not signed by its account's key: "), 0U);
}

TEST_F(RepositoryCheckTest, a_document_without_a_key_may_be_an_old_one) {
  fetched_.account = documents::Account{.label_key = account_of(1).key};
  const RepositoryCheck result = check();
  EXPECT_FALSE(result.listing);
  EXPECT_TRUE(result.has_other_key);
}

TEST_F(RepositoryCheckTest, without_a_document_the_signature_is_not_checked) {
  fetched_.account.reset();
  EXPECT_TRUE(check().listing);
}

}  // namespace
}  // namespace skua::backfill::repository_check_test
