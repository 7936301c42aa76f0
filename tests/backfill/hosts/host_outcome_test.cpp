#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "backfill/hosts/host_limits.hpp"
#include "transport/errc.hpp"

namespace skua::backfill::host_outcome_test {
namespace {

using namespace std::chrono_literals;
using End = HostOutcome::End;
using transport::HttpAnswer;

const Timestamp kNow{std::chrono::seconds(1'780'000'000)};

struct Status {
  unsigned status;
  End end;
};

class HostOutcomeStatus : public ::testing::TestWithParam<Status> {};

TEST_P(HostOutcomeStatus, says_whether_the_host_did_its_part) {
  HttpAnswer answer;
  answer.status = GetParam().status;
  EXPECT_EQ(host_outcome(answer, 1s, kNow).end, GetParam().end);
}

INSTANTIATE_TEST_SUITE_P(Table, HostOutcomeStatus,
                         ::testing::Values(Status{200, End::Answered}, Status{400, End::Answered},
                                           Status{404, End::Answered}, Status{403, End::Failed},
                                           Status{408, End::Failed}, Status{429, End::Limited},
                                           Status{500, End::Failed}, Status{503, End::Failed},
                                           Status{520, End::Failed}),
                         [](const auto& test) { return std::to_string(test.param.status); });

struct Error {
  transport::errc error;
  End end;
};

class HostOutcomeError : public ::testing::TestWithParam<Error> {};

TEST_P(HostOutcomeError, says_whose_fault_it_was) {
  const auto outcome = host_outcome(GetParam().error, 1s, kNow);
  EXPECT_EQ(outcome.end, GetParam().end);
  EXPECT_FALSE(outcome.error.empty());
  EXPECT_FALSE(outcome.repository);
}

INSTANTIATE_TEST_SUITE_P(
    Table, HostOutcomeError,
    ::testing::Values(Error{transport::errc::http_busy, End::Ours},
                      Error{transport::errc::http_stopped, End::Ours},
                      Error{transport::errc::http_too_large, End::Ours},
                      Error{transport::errc::spool_failed, End::Ours},
                      Error{transport::errc::http_dropped, End::Failed},
                      Error{transport::errc::http_timed_out, End::Failed},
                      Error{transport::errc::http_too_slow, End::Failed},
                      Error{transport::errc::connect_failed, End::Unreachable},
                      Error{transport::errc::tls_failed, End::Unreachable},
                      Error{transport::errc::host_not_found, End::Unreachable},
                      Error{transport::errc::address_not_public, End::Unreachable}),
    [](const auto& test) { return std::to_string(static_cast<int>(test.param.error)); });

TEST(HostOutcome, counts_a_repository) {
  HttpAnswer answer;
  answer.status = 200;
  answer.content_type = "application/vnd.ipld.car";
  answer.body = "\x3a\xa2 and so on";
  const auto outcome = host_outcome(answer, 250ms, kNow);
  EXPECT_TRUE(outcome.repository);
  EXPECT_EQ(outcome.bytes, answer.body.size());
  EXPECT_EQ(outcome.duration, 250ms);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.asked_wait, std::nullopt);
  EXPECT_FALSE(outcome.rate_limit);
}

TEST(HostOutcome, a_final_answer_is_no_error) {
  HttpAnswer answer;
  answer.status = 400;
  answer.body = R"({"error":"RepoTakendown","message":"gone"})";
  const auto outcome = host_outcome(answer, 1s, kNow);
  EXPECT_FALSE(outcome.repository);
  EXPECT_EQ(outcome.error, "");
}

TEST(HostOutcome, reads_the_limit_in_either_form) {
  HttpAnswer answer;
  answer.status = 200;
  answer.body = "x";
  answer.rate_limit = "3000";
  answer.rate_limit_remaining = "12";
  answer.rate_limit_reset = "1780000090";  // an instant, as PDSes write it
  for (const auto* reset : {"1780000090", "90"}) {
    answer.rate_limit_reset = reset;
    const auto outcome = host_outcome(answer, 1s, kNow);
    ASSERT_TRUE(outcome.rate_limit) << reset;
    EXPECT_EQ(outcome.rate_limit->limit, 3000);
    EXPECT_EQ(outcome.rate_limit->remaining, 12);
    EXPECT_EQ(outcome.rate_limit->until_reset, 90s);
    EXPECT_EQ(outcome.asked_wait, std::nullopt);
  }
  answer.rate_limit_remaining = "0";
  EXPECT_EQ(host_outcome(answer, 1s, kNow).asked_wait, 90s);
  answer.retry_after = "7";
  EXPECT_EQ(host_outcome(answer, 1s, kNow).asked_wait, 7s);
  EXPECT_EQ(host_outcome(answer, 1s, kNow).rate_limit->until_reset, 90s);
}

struct Headers {
  const char* name;
  const char* limit;
  const char* remaining;
  const char* reset;
};

class HostOutcomeHeaders : public ::testing::TestWithParam<Headers> {};

TEST_P(HostOutcomeHeaders, that_cannot_be_meant_are_no_limit) {
  HttpAnswer answer;
  answer.status = 200;
  answer.rate_limit = GetParam().limit;
  answer.rate_limit_remaining = GetParam().remaining;
  answer.rate_limit_reset = GetParam().reset;
  EXPECT_FALSE(host_outcome(answer, 1s, kNow).rate_limit);
}

INSTANTIATE_TEST_SUITE_P(Table, HostOutcomeHeaders,
                         ::testing::Values(Headers{"none", "", "", ""},
                                           Headers{"without_reset", "3000", "5", ""},
                                           Headers{"without_remaining", "3000", "", "90"},
                                           Headers{"negative", "3000", "-1", "90"},
                                           Headers{"negative_reset", "3000", "5", "-90"},
                                           Headers{"words", "3000", "many", "soon"},
                                           Headers{"beyond", "1", "99999999999999999999", "90"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace skua::backfill::host_outcome_test
