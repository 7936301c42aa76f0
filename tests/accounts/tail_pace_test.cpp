#include <string>

#include <gtest/gtest.h>

#include "accounts/plc_tail.hpp"

namespace skua::accounts::tail_pace_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

const Timestamp kNow{std::chrono::seconds(1'767'323'045)};

struct Stated {
  const char* name;
  const char* limit;
  const char* remaining;
  const char* reset;
  milliseconds pause;
};

class PauseAfterPage : public testing::TestWithParam<Stated> {};

TEST_P(PauseAfterPage, leaves_half_of_a_limit_to_others) {
  transport::HttpAnswer answer;
  answer.status = 200;
  answer.rate_limit = GetParam().limit;
  answer.rate_limit_remaining = GetParam().remaining;
  answer.rate_limit_reset = GetParam().reset;
  EXPECT_EQ(pause_after_page(answer, false, kNow), GetParam().pause);
}

INSTANTIATE_TEST_SUITE_P(All, PauseAfterPage,
                         testing::Values(Stated{"none", "", "", "", kTailCatchUp},
                                         Stated{"much_left", "500", "250", "90", kTailCatchUp},
                                         Stated{"less_than_half_left", "500", "249", "90", 90s},
                                         Stated{"nothing_left", "500", "0", "86400", 5min},
                                         Stated{"renewed_at_once", "500", "0", "0", kTailCatchUp},
                                         Stated{"without_a_limit", "", "1", "90", kTailCatchUp}),
                         [](const auto& each) { return each.param.name; });

TEST(PauseAfterPageTest, is_longer_at_the_end) {
  EXPECT_EQ(pause_after_page({}, true, kNow), kTailInterval);
}

struct Failed {
  const char* name;
  std::uint64_t failures;
  const char* retry_after;
  milliseconds pause;
};

class PauseAfterFailure : public testing::TestWithParam<Failed> {};

TEST_P(PauseAfterFailure, grows_and_obeys_within_bounds) {
  transport::HttpAnswer answer;
  answer.status = 429;
  answer.retry_after = GetParam().retry_after;
  EXPECT_EQ(pause_after_failure(GetParam().failures, &answer, kNow), GetParam().pause);
}

INSTANTIATE_TEST_SUITE_P(All, PauseAfterFailure,
                         testing::Values(Failed{"first", 1, "", 2s}, Failed{"third", 3, "", 8s},
                                         Failed{"many", 1'000'000, "", 60s},
                                         Failed{"asked", 1, "100", 100s},
                                         Failed{"asked_for_less", 3, "1", 8s},
                                         Failed{"asked_for_too_much", 1, "99999", 5min}),
                         [](const auto& each) { return each.param.name; });

TEST(PauseAfterFailureTest, needs_no_answer) {
  EXPECT_EQ(pause_after_failure(2, nullptr, kNow), 4s);
}

}  // namespace
}  // namespace skua::accounts::tail_pace_test
