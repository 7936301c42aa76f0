#include "doctor/network.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings.hpp"
#include "transport/errc.hpp"

namespace skua::doctor::network_test {
namespace {

using test::briefs;
using testing::ElementsAre;
using testing::HasSubstr;
using transport::errc;

const NetworkTarget kRelayA{NetworkTarget::Kind::Source, "relay", "relay:a", "https://a/"};
const NetworkTarget kRelayB{NetworkTarget::Kind::Source, "relay", "relay:b", "https://b/"};
const NetworkTarget kTap{NetworkTarget::Kind::Source, "", "tap:c", "https://c/"};
const NetworkTarget kJetstream{NetworkTarget::Kind::Source, "", "jetstream:e", "https://e/",
                               transport::Endpoint{}};
const NetworkTarget kPlc{NetworkTarget::Kind::Plc, "", "PLC directory", "https://d/"};

NetworkAnswer failed(errc code) {
  return {.status = ErrorCode(code), .took = {}, .stream_failure = {}, .clock_ahead = {}};
}
NetworkAnswer answered(unsigned status) {
  return {.status = status,
          .took = std::chrono::milliseconds(12),
          .stream_failure = {},
          .clock_ahead = {}};
}

/// The answer of a source with a websocket, and why that failed.
NetworkAnswer streamed(unsigned status, const std::string& failure) {
  NetworkAnswer answer = answered(status);
  answer.stream_failure = failure;
  return answer;
}

struct FailureCase {
  NetworkTarget target;
  NetworkAnswer answer;
  std::string expected;
};

class JudgeNetwork : public testing::TestWithParam<FailureCase> {};

TEST_P(JudgeNetwork, names_the_problem) {
  const auto& [target, answer, expected] = GetParam();
  EXPECT_THAT(briefs(judge_network({target}, {answer})), ElementsAre(expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, JudgeNetwork,
    testing::Values(FailureCase{kTap, answered(200), "ok"}, FailureCase{kTap, answered(404), "ok"},
                    FailureCase{kTap, answered(401), "ok"},
                    FailureCase{kTap, answered(502), "error source-down"},
                    FailureCase{kPlc, answered(500), "error plc-down"},
                    FailureCase{kJetstream, streamed(200, ""), "ok"},
                    FailureCase{kJetstream, streamed(503, ""), "ok"},
                    FailureCase{kJetstream, streamed(200, "404"), "error source-down"},
                    FailureCase{kTap, failed(errc::host_not_found), "error dns-failed"},
                    FailureCase{kPlc, failed(errc::host_lookup_failed), "error dns-failed"},
                    FailureCase{kTap, failed(errc::tls_untrusted), "error source-tls"},
                    FailureCase{kTap, failed(errc::tls_failed), "error source-tls"},
                    FailureCase{kTap, failed(errc::connect_failed), "error source-down"},
                    FailureCase{kTap, failed(errc::connect_timed_out), "error source-down"},
                    FailureCase{kTap, failed(errc::http_timed_out), "error source-down"},
                    FailureCase{kPlc, failed(errc::connect_failed), "error plc-down"}));

TEST(JudgeNetworkGroups, a_relay_that_a_standby_replaces_is_a_warning) {
  const std::vector targets{kRelayA, kRelayB, kTap};
  EXPECT_THAT(briefs(judge_network(targets, {failed(errc::connect_failed), answered(200),
                                             failed(errc::connect_failed)})),
              ElementsAre("warning source-down", "ok", "error source-down"));
  EXPECT_THAT(
      briefs(judge_network(targets, {failed(errc::connect_failed), answered(503), answered(200)})),
      ElementsAre("error source-down", "error source-down", "ok"));
}

TEST(AskNetwork, a_name_and_a_port_that_fail_are_errors_in_the_order_of_the_targets) {
  transport::HttpClientOptions options;
  options.connect_timeout = std::chrono::seconds(5);
  options.total_timeout = std::chrono::seconds(5);
  options.lookup = [](const std::string& host) -> Result<std::vector<std::string>> {
    if (host == "unknown.example") return ErrorCode(errc::host_not_found);
    return std::vector<std::string>{"127.0.0.1"};
  };
  NetworkTarget unknown = kTap;
  unknown.url = "http://unknown.example/";
  NetworkTarget closed = kTap;
  // The port of the service tcpmux, which nothing offers.
  closed.url = "http://127.0.0.1:1/";
  closed.stream = transport::parse_endpoint("ws://127.0.0.1:1").value();
  const auto answers = ask_network({closed, unknown}, options, system_clock());
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].status.error(), errc::connect_refused);
  EXPECT_NE(answers[0].stream_failure.value_or(""), "");
  EXPECT_EQ(answers[1].stream_failure, std::nullopt);
  EXPECT_EQ(answers[1].status.error(), errc::host_not_found);
}

TEST(AskNetwork, without_targets_has_no_answers) {
  EXPECT_TRUE(ask_network({}, {}, system_clock()).empty());
}

}  // namespace
}  // namespace skua::doctor::network_test
