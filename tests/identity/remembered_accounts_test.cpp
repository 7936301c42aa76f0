#include "identity/remembered_accounts.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "identity/errc.hpp"

namespace skua::identity::remembered_accounts_test {
namespace {

using namespace std::chrono_literals;

const std::string kDid = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
constexpr std::chrono::seconds kDay{86'400};

class RememberedAccountsTest : public testing::Test {
 protected:
  std::optional<Result<Account>> answer(bool refresh = false) {
    return remembered_.answer(kDid, kDay, refresh, {now_, monotonic_});
  }
  Account account() const { return {.did = kDid, .pds = "https://pds.test", .fetched_at = now_}; }

  RememberedAccounts remembered_{{.max_accounts = 10, .data_failure = 5min, .server_failure = 30s}};
  Timestamp now_{1'000h};
  /// Another clock.
  Timestamp monotonic_{1h};
};

TEST_F(RememberedAccountsTest, an_account_is_the_answer_while_it_is_young) {
  EXPECT_FALSE(answer());
  remembered_.keep(account());
  ASSERT_TRUE(answer());
  EXPECT_EQ(answer()->value(), account());
  now_ += kDay - 1us;
  EXPECT_TRUE(answer());
  now_ += 1us;
  EXPECT_FALSE(answer());
  now_ -= 2 * kDay;
  EXPECT_FALSE(answer()) << "the clock was set back: its age is not known";
}

TEST_F(RememberedAccountsTest, a_failure_is_the_answer_for_a_while) {
  remembered_.failed(kDid, make_error_code(errc::did_not_found), monotonic_);
  ASSERT_TRUE(answer());
  EXPECT_EQ(answer()->error(), errc::did_not_found);
  monotonic_ += 5min;
  EXPECT_FALSE(answer());
}

TEST_F(RememberedAccountsTest, after_a_failure_of_a_server_a_stale_account_is_good_enough) {
  remembered_.keep(account());
  const Account stale = account();
  now_ += 2 * kDay;
  remembered_.failed(kDid, make_error_code(errc::server_failed), monotonic_);
  EXPECT_EQ(answer()->value(), stale);
  EXPECT_EQ(answer(true)->error(), errc::server_failed) << "a refresh wants no stale one";
  monotonic_ += 30s;
  EXPECT_FALSE(answer());
}

TEST_F(RememberedAccountsTest, a_failure_of_the_data_invalidates_the_account) {
  EXPECT_FALSE(remembered_.forget(kDid));
  remembered_.keep(account());
  EXPECT_TRUE(remembered_.forget(kDid));
  EXPECT_EQ(remembered_.find(kDid), nullptr);
  remembered_.failed(kDid, make_error_code(errc::did_tombstoned), monotonic_);
  EXPECT_EQ(answer()->error(), errc::did_tombstoned);
  remembered_.fetched(account());
  EXPECT_EQ(answer()->value(), account()) << "a new document ends the failure";
}

}  // namespace
}  // namespace skua::identity::remembered_accounts_test
