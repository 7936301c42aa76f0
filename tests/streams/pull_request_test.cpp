#include "streams/leased/pull_request.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skua::streams::pull_request_test {
namespace {

std::string error_of(PullAction action, const std::string& body) {
  const auto request = parse_pull_request(action, body);
  return request ? "" : request.error();
}

TEST(PullRequestTest, a_fetch_has_defaults) {
  const auto request = parse_pull_request(PullAction::Fetch, R"({"consumer":"archive"})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->consumer, "archive");
  EXPECT_EQ(request->max, 100);
  EXPECT_EQ(request->lease_time, std::nullopt);
  EXPECT_EQ(request->wait, std::chrono::seconds(0));
}

TEST(PullRequestTest, a_batch_is_the_text_of_its_lease) {
  const consumers::LeaseName lease{.consumer_id = 0, .lane = 3, .epoch = 17, .owner = "a-b_c"};
  const auto request =
      parse_pull_request(PullAction::Ack, R"({"consumer":"archive","through":"2-9","batch":")" +
                                              lease_text(lease, 21) + R"("})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->lease.lane, 3);
  EXPECT_EQ(request->lease.epoch, 17);
  EXPECT_EQ(request->lease.owner, "a-b_c");
  EXPECT_EQ(request->last_change, 21);
  EXPECT_EQ(request->position, (Position{2, 9}));
}

TEST(PullRequestTest, a_failure_has_its_reason_and_time) {
  const auto request = parse_pull_request(
      PullAction::Nack,
      R"({"consumer":"a","batch":"0-1-9-x","pos":"1-5","error":"no","retry_seconds":7,"reject":true})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->error, "no");
  EXPECT_EQ(request->retry, std::chrono::seconds(7));
  EXPECT_TRUE(request->is_final);
}

TEST(PullRequestTest, an_ack_can_reject_changes) {
  const auto request = parse_pull_request(
      PullAction::Ack,
      R"({"consumer":"a","batch":"0-1-9-x","rejected":[{"pos":"1-5","error":"no\u0000"},{"pos":"1-7"}]})");
  ASSERT_TRUE(request);
  ASSERT_EQ(request->rejected.size(), 2U);
  EXPECT_EQ(request->rejected[0].position, (Position{1, 5}));
  EXPECT_EQ(request->rejected[0].error, "no?");
  EXPECT_EQ(request->rejected[1].error, kRefused);
  const auto error = [](const std::string& list) {
    return error_of(PullAction::Ack,
                    R"({"consumer":"a","batch":"0-1-9-x","rejected":)" + list + "}");
  };
  EXPECT_EQ(error("[]"), "");
  EXPECT_EQ(error("7"), "rejected is a list of at most 1000 changes");
  std::string many = R"([{"pos":"1-1"})";
  for (int i = 0; i < 1'000; ++i) many += R"(,{"pos":"1-1"})";
  EXPECT_EQ(error(many + "]"), "rejected is a list of at most 1000 changes");
  for (const std::string entry :
       {"1", R"("1-5")", "{}", R"({"pos":5})", R"({"pos":"5"})", R"({"pos":"1-5","error":7})",
        R"({"pos":"1-5","reason":"x"})", R"({"pos":"1-5","error":["x"]})"}) {
    EXPECT_EQ(error("[" + entry + "]"),
              "an entry of rejected has pos, a position such as 1-4711, and possibly error, a text")
        << entry;
  }
  EXPECT_EQ(error_of(PullAction::Nack, R"({"consumer":"a","batch":"0-1-9-x","rejected":[]})"),
            "unknown member 'rejected'");
}

TEST(PullRequestTest, other_bodies_are_refused_with_the_reason) {
  EXPECT_EQ(error_of(PullAction::Fetch, "[]"), "the body is not a JSON object");
  EXPECT_EQ(error_of(PullAction::Fetch, "{"), "the body is not a JSON object");
  EXPECT_EQ(error_of(PullAction::Fetch, "{}"), "consumer is missing");
  EXPECT_EQ(error_of(PullAction::Fetch, R"({"consumer":1})"), "consumer is a text");
  EXPECT_EQ(error_of(PullAction::Fetch, R"({"consumer":"a","max":0})"),
            "max is a number from 1 to 10000");
  EXPECT_EQ(error_of(PullAction::Fetch, R"({"consumer":"a","max":1.5})"),
            "max is a number from 1 to 10000");
  EXPECT_EQ(error_of(PullAction::Fetch, R"({"consumer":"a","wait_seconds":60})"),
            "wait_seconds is a number from 0 to 20");
  EXPECT_EQ(error_of(PullAction::Fetch, R"({"consumer":"a","batch":"0-1-9-x"})"),
            "unknown member 'batch'");
  EXPECT_EQ(error_of(PullAction::Nack, R"({"consumer":"a","batch":"0-1-9-x","reject":"yes"})"),
            "reject is true or false");
  EXPECT_EQ(error_of(PullAction::Ack, R"({"consumer":"a","batch":"0-1-9-x","through":"5"})"),
            "through is a position such as 1-4711");
  for (const std::string batch :
       {"", "0", "0-1", "0-1-9", "0-1-9-", "0-1-y", "x-1-9-y", "0-x-9-y", "99999999999-1-9-y"}) {
    EXPECT_EQ(error_of(PullAction::Ack, R"({"consumer":"a","batch":")" + batch + R"("})"),
              "batch is not the batch of an answer to fetch")
        << batch;
  }
}

TEST(PullRequestTest, the_hash_of_a_token_is_its_sha256) {
  EXPECT_EQ(token_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace skua::streams::pull_request_test
