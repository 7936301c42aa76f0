#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/discovery/discovery.hpp"
#include "backfill/hosts/host_limits.hpp"
#include "backfill/repository/download.hpp"
#include "repo/car.hpp"
#include "transport/errc.hpp"
#include "transport/sim_process.hpp"

namespace skua::backfill::repo_answer_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using transport::HttpAnswer;

const Timestamp kNow{std::chrono::seconds(1'780'000'000)};
const std::string kCar = "\x3a\xa2 and so on";

HttpAnswer answer(unsigned status, const std::string& body,
                  const std::string& type = "application/json") {
  HttpAnswer answer;
  answer.status = status;
  answer.body = body;
  answer.content_type = type;
  return answer;
}

TEST(RepoAnswer, a_car_is_a_car) {
  for (const auto* type : {"application/vnd.ipld.car", "application/octet-stream", ""}) {
    const auto meaning = classify_repo_answer(answer(200, kCar, type), kNow);
    EXPECT_TRUE(std::holds_alternative<CarAnswer>(meaning)) << type;
  }
}

TEST(RepoAnswer, the_bytes_decide_if_the_content_type_is_wrong) {
  Bytes bytes;
  repo::CarWriter(bytes, std::array{atproto::Cid::of(as_bytes("root"))});
  const std::string car(as_text(bytes));
  for (const auto* type : {"text/html", "text/plain; charset=utf-8", "application/json"}) {
    const auto meaning = classify_repo_answer(answer(200, car, type), kNow);
    EXPECT_TRUE(std::holds_alternative<CarAnswer>(meaning)) << type;
  }
}

class FinalAnswer : public ::testing::TestWithParam<const char*> {};

TEST_P(FinalAnswer, is_final_with400_and404_only) {
  const auto body = std::string(R"({"error":")") + GetParam() + R"(","message":"whatever"})";
  for (const unsigned status : {400U, 404U}) {
    const auto meaning = classify_repo_answer(answer(status, body), kNow);
    ASSERT_TRUE(std::holds_alternative<RepoUnavailable>(meaning)) << status;
    EXPECT_EQ(std::get<RepoUnavailable>(meaning).reason, GetParam());
    EXPECT_THAT(std::get<RepoUnavailable>(meaning).message, ::testing::StartsWith(GetParam()));
  }
  for (const unsigned status : {200U, 401U, 403U, 410U, 500U, 502U}) {
    const auto meaning = classify_repo_answer(answer(status, body), kNow);
    EXPECT_TRUE(std::holds_alternative<RequestFailed>(meaning)) << status;
  }
  EXPECT_TRUE(std::holds_alternative<HostLimited>(classify_repo_answer(answer(429, body), kNow)));
}

INSTANTIATE_TEST_SUITE_P(Table, FinalAnswer,
                         ::testing::Values("RepoNotFound", "RepoTakendown", "RepoSuspended",
                                           "RepoDeactivated"),
                         [](const auto& test) { return test.param; });

struct Failure {
  const char* name;
  HttpAnswer answer;
  std::string message;
};

void PrintTo(const Failure& failure, std::ostream* out) {
  *out << failure.name;
}

class FailedAnswer : public ::testing::TestWithParam<Failure> {};

TEST_P(FailedAnswer, is_tried_again_and_says_why) {
  const auto meaning = classify_repo_answer(GetParam().answer, kNow);
  ASSERT_TRUE(std::holds_alternative<RequestFailed>(meaning));
  EXPECT_EQ(std::get<RequestFailed>(meaning).message, GetParam().message);
  EXPECT_EQ(std::get<RequestFailed>(meaning).wait, std::nullopt);
}

const std::string kNoCar = "the host answered with a page or a text instead of a repository";

INSTANTIATE_TEST_SUITE_P(
    Table, FailedAnswer,
    ::testing::Values(
        Failure{"html", answer(200, "<html>Welcome</html>", "text/html; charset=utf-8"), kNoCar},
        Failure{"html_without_type", answer(200, "\n <!DOCTYPE html><html>", ""), kNoCar},
        Failure{"html_as_a_car", answer(200, "<HTML>", "application/vnd.ipld.car"), kNoCar},
        Failure{"json", answer(200, "{}"), kNoCar},
        Failure{"json_as_a_car", answer(200, R"({"error":"x"})", "application/vnd.ipld.car"),
                kNoCar},
        Failure{"empty", answer(200, "", "application/vnd.ipld.car"),
                "the host answered with nothing"},
        Failure{"no_content", answer(204, ""), "the host answered 204"},
        Failure{"partial", answer(206, kCar), "the host answered 206"},
        Failure{"bad_gateway", answer(502, "<html>", "text/html"), "the host answered 502"},
        Failure{"forbidden", answer(403, "go away"), "the host answered 403"},
        Failure{"not_found_page", answer(404, "<html>"), "the host answered 404"},
        Failure{"other_name", answer(400, R"({"error":"InvalidRequest","message":"no did"})"),
                "the host answered 400 InvalidRequest: no did"},
        Failure{"name_in_lower_case", answer(400, R"({"error":"repoNotFound"})"),
                "the host answered 400 repoNotFound"},
        Failure{"name_of_wrong_type", answer(400, R"({"error":["RepoNotFound"],"message":7})"),
                "the host answered 400"},
        Failure{"no_object", answer(400, R"("RepoNotFound")"), "the host answered 400"},
        Failure{"control_characters",
                answer(500, R"({"error":"A\u0000B","message":"a\u001b[0m\n"})"),
                "the host answered 500 A B: a [0m "},
        Failure{"long_message",
                answer(500, R"({"error":"E","message":")" + std::string(199, 'x') +
                                "\u00e9"
                                R"(y"})"),
                "the host answered 500 E: " + std::string(199, 'x') + "..."},
        Failure{"huge_body",
                answer(400, R"({"error":"RepoNotFound","message":")" + std::string(20'000, 'x') +
                                R"("})"),
                "the host answered 400"}),
    [](const auto& test) { return test.param.name; });

TEST(RepoAnswer, a_limit_carries_its_wait) {
  auto limited = answer(429, "");
  EXPECT_EQ(std::get<HostLimited>(classify_repo_answer(limited, kNow)).wait, std::nullopt);
  limited.retry_after = "17";
  EXPECT_EQ(std::get<HostLimited>(classify_repo_answer(limited, kNow)).wait, 17s);
}

TEST(RepoAnswer, a_failure_carries_the_wait_that_the_host_asks_for) {
  auto failed = answer(503, "");
  failed.retry_after = "120";
  EXPECT_EQ(std::get<RequestFailed>(classify_repo_answer(failed, kNow)).wait, 120s);
}

struct Error {
  transport::errc error;
  const char* part;
};

class ErrorAnswer : public ::testing::TestWithParam<Error> {};

TEST_P(ErrorAnswer, is_tried_again_and_says_what_to_do) {
  const auto meaning = classify_repo_answer(GetParam().error, kNow);
  ASSERT_TRUE(std::holds_alternative<RequestFailed>(meaning));
  const auto message = std::get<RequestFailed>(meaning).message;
  EXPECT_THAT(message, HasSubstr(make_error_code(GetParam().error).message()));
  EXPECT_THAT(message, HasSubstr(GetParam().part));
}

INSTANTIATE_TEST_SUITE_P(
    Table, ErrorAnswer,
    ::testing::Values(Error{transport::errc::http_dropped, ""},
                      Error{transport::errc::connect_failed, ""},
                      Error{transport::errc::http_too_large, "; --largest-repository raises it"},
                      Error{transport::errc::address_not_public, "; --allow-private-hosts"},
                      Error{transport::errc::spool_failed, "; see that the folder"}),
    [](const auto& test) { return std::to_string(static_cast<int>(test.param.error)); });

/// What a PDS of the simulated network answers.
class SimulatedPds : public ::testing::Test {
 protected:
  void run(std::vector<std::string> flags) {
    auto pattern = (std::filesystem::temp_directory_path() / "skua-answer-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    flags.insert(flags.end(), {"--accounts", "20", "--records", "200", "--hosts", "1", "--events",
                               "1", "--seed", "5"});
    sim_ = std::make_unique<test::SimProcess>(SKUA_SIM, "", folder_ / "log", flags);
    pds_ = sim_->ready().at("hosts").at(0).get<std::string>();
  }

  void TearDown() override {
    sim_.reset();
    std::filesystem::remove_all(folder_);
  }

  Result<HttpAnswer> get(const std::string& url) {
    transport::HttpRequest request;
    request.url = url;
    request.origin = transport::HostOrigin::configured;
    return http_.send(std::move(request));
  }

  std::filesystem::path folder_;
  std::unique_ptr<test::SimProcess> sim_;
  std::string pds_;
  transport::HttpClient http_{transport::HttpClientOptions{}};
};

TEST_F(SimulatedPds, gives_a_car_or_says_that_there_is_none) {
  run({});
  const auto page = read_repo_page(get(list_repos_url(pds_, "")).value().body).value();
  ASSERT_FALSE(page.repos.empty());
  const auto car = get(get_repo_url(pds_, page.repos[0].did, std::nullopt));
  EXPECT_TRUE(std::holds_alternative<CarAnswer>(classify_repo_answer(car, kNow)));
  EXPECT_EQ(host_outcome(car, 1s, kNow).end, HostOutcome::End::Answered);

  const auto none = get(get_repo_url(pds_, "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", std::nullopt));
  EXPECT_EQ(std::get<RepoUnavailable>(classify_repo_answer(none, kNow)).message,
            "RepoNotFound: the host has no such repository");
}

TEST_F(SimulatedPds, limits_with_and_without_a_word) {
  const auto now = system_clock().now();
  run({"--fault-rate", "429:17=1"});
  const auto limited = get(get_repo_url(pds_, "did:web:a.test", std::nullopt));
  const auto wait = std::get<HostLimited>(classify_repo_answer(limited, now)).wait;
  EXPECT_EQ(wait, 17s);
  EXPECT_EQ(host_outcome(limited, 1s, now).end, HostOutcome::End::Limited);
  EXPECT_TRUE(host_outcome(limited, 1s, now).rate_limit);
  TearDown();
  run({"--fault-rate", "429-bare=1"});
  const auto bare = get(get_repo_url(pds_, "did:web:a.test", std::nullopt));
  EXPECT_EQ(std::get<HostLimited>(classify_repo_answer(bare, now)).wait, std::nullopt);
  EXPECT_FALSE(host_outcome(bare, 1s, now).rate_limit);
}

TEST(GetRepoUrl, escapes_the_did_and_names_a_revision) {
  EXPECT_EQ(get_repo_url("https://pds.example", "did:plc:ewvi7nxzyoun6zhxrhs64oiz", std::nullopt),
            "https://pds.example/xrpc/com.atproto.sync.getRepo?did="
            "did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  EXPECT_EQ(get_repo_url("http://127.0.0.1:80", "did:web:localhost%3A80",
                         atproto::Tid::parse("3n2ujseh76l22").value()),
            "http://127.0.0.1:80/xrpc/com.atproto.sync.getRepo?did=did:web:localhost%253A80"
            "&since=3n2ujseh76l22");
}

}  // namespace
}  // namespace skua::backfill::repo_answer_test
