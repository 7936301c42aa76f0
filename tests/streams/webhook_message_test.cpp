#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "streams/leased/leased_batch.hpp"
#include "streams/leased/webhook_sender.hpp"
#include "transport/errc.hpp"

namespace skua::streams::webhook_message_test {
namespace {

/// Changes at the positions 5 and 8 of timeline 2.
LeasedBatch made_batch() {
  LeasedBatch batch;
  for (const std::int64_t pos : {5, 8}) {
    const std::string position = "2-" + std::to_string(pos);
    batch.changes.push_back({pos, position, R"({"pos":")" + position + R"("})"});
  }
  batch.attempt = {.number = 3,
                   .lease_until = Timestamp{std::chrono::seconds(1'783'175'903)},
                   .left = std::chrono::milliseconds(14'998)};
  return batch;
}

const std::string kUrl = "https://search.example/hooks/Xy7pQ2sW?token=abcdef12&a=1";

WebhookOutcome whole_outcome(unsigned status, const std::string& body = "",
                             const std::string& retry_after = "") {
  transport::HttpAnswer answer;
  answer.status = status;
  answer.body = body;
  answer.retry_after = retry_after;
  return webhook_outcome(answer, made_batch(), kUrl);
}

std::optional<consumers::LeaseFailure> outcome(unsigned status, const std::string& body = "",
                                               const std::string& retry_after = "") {
  return whole_outcome(status, body, retry_after).failure;
}

TEST(WebhookMessageTest, a_request_names_its_changes_and_is_signed) {
  const Timestamp now{std::chrono::seconds(1'783'175'888)};
  const std::string secret = "whsec_c2VjcmV0";
  const auto request =
      webhook_request("search", "https://search.example/skua", secret, made_batch(), now);
  ASSERT_EQ(request.headers.size(), 6U);
  EXPECT_EQ(request.headers[0].value, "search:2-5:2-8");
  EXPECT_EQ(request.headers[1].value, "1783175888");
  EXPECT_EQ(request.headers[2].value,
            webhook_signature(secret, "search:2-5:2-8", 1'783'175'888, *request.json));
  EXPECT_EQ(request.headers[3].value, "3");
  EXPECT_EQ(request.headers[4].value, "2026-07-04T14:38:23.000000Z");
  EXPECT_EQ(request.headers[5].value, "14998");
  const auto body = nlohmann::json::parse(*request.json);
  EXPECT_EQ(body["consumer"], "search");
  EXPECT_EQ(body["changes"][1]["pos"], "2-8");
}

// Computed with the modules hmac and base64 of Python for the key "secret".
TEST(WebhookMessageTest, a_signature_is_that_of_standard_webhooks) {
  EXPECT_EQ(webhook_signature("whsec_c2VjcmV0", "id", 17, "{}"),
            "v1,jMo+LgqC1oyBPMMwOA72dHUQ2Zom5oab138CW61lRPs=");
}

TEST(WebhookMessageTest, a_secret_is_random_and_has_256_bits) {
  EXPECT_NE(new_webhook_secret(), new_webhook_secret());
  EXPECT_EQ(new_webhook_secret().size(), 6U + 44U);
}

TEST(WebhookMessageTest, an_answer_of_success_acknowledges_all) {
  EXPECT_FALSE(outcome(200));
  EXPECT_FALSE(outcome(204));
  EXPECT_FALSE(outcome(200, "ok"));
  EXPECT_FALSE(outcome(200, R"({"received":2})"));
}

TEST(WebhookMessageTest, a_receiver_can_refuse_one_change) {
  const auto failure =
      outcome(200, R"({"failed":{"pos":"2-8","error":"bad\u0000text","retry":false}})");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->pos, 8);
  EXPECT_TRUE(failure->is_final);
  EXPECT_EQ(failure->error.find('\0'), std::string::npos);
  EXPECT_FALSE(outcome(200, R"({"failed":{"pos":"2-8"}})")->is_final);
  for (const std::string body :
       {R"({"failed":true})", R"({"failed":{"pos":"2-6"}})", R"({"failed":{"pos":8}})"}) {
    const auto other = outcome(200, body);
    ASSERT_TRUE(other) << body;
    EXPECT_FALSE(other->pos) << body;
    EXPECT_FALSE(other->is_temporary) << body;
  }
}

TEST(WebhookMessageTest, a_receiver_can_reject_several_changes) {
  const auto rejected = [](const std::string& body) {
    std::string text;
    for (const auto& [pos, error] : whole_outcome(200, body).rejected) {
      text += std::to_string(pos) + " " + error + ", ";
    }
    return text;
  };
  const std::string both = R"("rejected":[{"pos":"2-8","error":"bad\u0000"},{"pos":"2-5"}])";
  EXPECT_EQ(rejected("{" + both + "}"), "8 bad?, 5 the receiver refused a change, ");
  EXPECT_FALSE(outcome(200, "{" + both + "}"));
  EXPECT_FALSE(outcome(200, R"({"rejected":[]})"));
  EXPECT_EQ(rejected(R"({"rejected":[{"pos":"2-5","error":"Xy7pQ2sW"}]})"), "5 (hidden), ");

  // Rejections before a failure count.
  const std::string mixed = R"({"failed":{"pos":"2-8"},)" + both + "}";
  EXPECT_EQ(rejected(mixed), "5 the receiver refused a change, ");
  EXPECT_EQ(outcome(200, mixed)->pos, 8);
  EXPECT_EQ(rejected(R"({"failed":true,)" + both + "}"), "");

  for (const std::string body :
       {R"({"rejected":true})", R"({"rejected":[{"pos":"2-6"}]})", R"({"rejected":["2-5"]})",
        R"({"rejected":[{"pos":"2-5"},{"pos":8}]})", R"({"rejected":[{"error":"x"}]})"}) {
    EXPECT_EQ(rejected(body), "") << body;
    const auto failure = outcome(200, body);
    ASSERT_TRUE(failure) << body;
    EXPECT_FALSE(failure->pos) << body;
    EXPECT_EQ(failure->error, "the receiver refused a change that it was not sent") << body;
  }
}

TEST(WebhookMessageTest, a_failure_concerns_the_changes_or_the_receiver) {
  for (const unsigned status : {400U, 409U, 413U, 422U, 500U}) {
    EXPECT_FALSE(outcome(status)->is_temporary) << status;
  }
  for (const unsigned status : {301U, 401U, 403U, 404U, 408U, 429U, 502U, 503U, 504U}) {
    EXPECT_TRUE(outcome(status)->is_temporary) << status;
  }
  EXPECT_EQ(outcome(503, "", "7")->wait, std::chrono::seconds(7));
  EXPECT_EQ(outcome(500, "<p>broken\n")->error, "HTTP 500: <p>broken ");
  const auto error = [](transport::errc code) {
    return webhook_outcome(Result<transport::HttpAnswer>(make_error_code(code)), made_batch(), kUrl)
        .failure;
  };
  EXPECT_FALSE(error(transport::errc::http_timed_out)->is_temporary);
  EXPECT_FALSE(error(transport::errc::http_dropped)->is_temporary);
  EXPECT_TRUE(error(transport::errc::connect_failed)->is_temporary);
  EXPECT_TRUE(error(transport::errc::tls_failed)->is_temporary);
}

TEST(WebhookMessageTest, an_error_has_no_secret_of_the_address) {
  EXPECT_EQ(outcome(404, "Cannot POST /hooks/Xy7pQ2sW?token=abcdef12&a=1")->error,
            "HTTP 404: Cannot POST /hooks/(hidden)?token=(hidden)&a=1");
  EXPECT_EQ(outcome(200, R"({"failed":{"error":"Xy7pQ2sW is not Xy7pQ2sW"}})")->error,
            "(hidden) is not (hidden)");
  // Also at the place where a long answer is cut.
  EXPECT_EQ(outcome(500, std::string(295, 'x') + "Xy7pQ2sW")->error,
            "HTTP 500: " + std::string(295, 'x') + "(hid" + "d");
  // Nothing of it is left to be found again.
  EXPECT_EQ(outcome(500, "Xy7pQ2Xy7pQ2sWsW")->error, "HTTP 500: Xy7pQ2(hidden)sW");
}

TEST(WebhookMessageTest, a_failure_has_its_cause) {
  using Cause = consumers::FailureCause;
  const std::pair<unsigned, Cause> statuses[] = {
      {400, Cause::Change},  {500, Cause::Change},  {401, Cause::Refused}, {403, Cause::Refused},
      {301, Cause::Address}, {404, Cause::Address}, {405, Cause::Address}, {408, Cause::Busy},
      {429, Cause::Busy},    {503, Cause::Busy}};
  for (const auto& [status, cause] : statuses) EXPECT_EQ(outcome(status)->cause, cause) << status;
  using transport::errc;
  const std::pair<errc, Cause> errors[] = {{errc::connect_refused, Cause::Unreachable},
                                           {errc::connect_failed, Cause::Unreachable},
                                           {errc::connect_timed_out, Cause::Unreachable},
                                           {errc::host_not_found, Cause::Name},
                                           {errc::tls_untrusted, Cause::Tls},
                                           {errc::http_timed_out, Cause::Slow},
                                           {errc::http_dropped, Cause::Change},
                                           {errc::http_malformed, Cause::Address}};
  for (const auto& [code, cause] : errors) {
    const Result<transport::HttpAnswer> answer(make_error_code(code));
    EXPECT_EQ(webhook_outcome(answer, made_batch(), kUrl).failure->cause, cause)
        << make_error_code(code).message();
  }
  EXPECT_EQ(outcome(401, "no")->error, "HTTP 401: no");
  EXPECT_EQ(outcome(401)->error, "HTTP 401");
}

TEST(LeasedFilterTest, a_filter_has_lists) {
  const auto filter = parse_leased_filter(
      R"({"collections":["app.bsky.feed.*"],"ops":["create"],"kinds":["record"]})");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->collections.passes("app.bsky.feed.post"));
  EXPECT_FALSE(filter->collections.passes("app.bsky.graph.follow"));
  EXPECT_EQ(filter->ops.size(), 1U);
  EXPECT_TRUE(parse_leased_filter("{}"));
  for (const std::string json :
       {"[]", R"({"ops":"create"})", R"({"ops":["made"]})", R"({"dids":["x"]})",
        R"({"collections":[1]})", R"({"kinds":["post"]})"}) {
    EXPECT_FALSE(parse_leased_filter(json)) << json;
  }
}

}  // namespace
}  // namespace skua::streams::webhook_message_test
