#include "admin/admin_api.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backfill/queue/job_commands.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/projection_upkeep.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/consumer_letters.hpp"
#include "tables/filter_table.hpp"

namespace skua::admin::admin_api_test {
namespace {

using http_server::Exchange;
using http_server::Response;
using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kToken = "0123456789abcdefghij";
const std::string kAlice = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
const std::string kNobody = "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb";

/// A request, and the wait for its answer.
class Call {
 public:
  Call(const http_server::Server::Routes& routes, const std::string& path,
       const std::string& body) {
    http_server::Request request;
    request.target.path = path;
    request.body = body;
    request.address = "127.0.0.1";
    exchange_ = std::make_shared<Exchange>(std::move(request), [this] {
      const std::scoped_lock lock(mutex_);
      is_answered_ = true;
      answered_.notify_all();
    });
    routes.at(path).handler(exchange_);
  }

  bool is_answered() {
    const std::scoped_lock lock(mutex_);
    return is_answered_;
  }
  Response response() {
    {
      std::unique_lock lock(mutex_);
      if (!answered_.wait_for(lock, std::chrono::seconds(30), [&] { return is_answered_; })) {
        return {.status = 0, .body = "no answer"};
      }
    }
    return std::get<Response>(exchange_->take().value());
  }

 private:
  std::mutex mutex_;
  std::condition_variable answered_;
  bool is_answered_ = false;
  std::shared_ptr<Exchange> exchange_;
};

class AdminApiTest : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    api_ = std::make_unique<AdminApi>(
        runtime_, AdminApi::Options{.guard = {Token(kToken), "--token-file", clock_}});
    api_->add_routes(routes_);
  }

  Response send(const std::string& path, const json& body) {
    if (!is_started_) api_->start();
    is_started_ = true;
    return Call(routes_, path, body.dump()).response();
  }
  /// The body of a 200.
  json accepted(const std::string& path, const json& body) {
    const Response response = send(path, body);
    EXPECT_EQ(response.status, 200U) << response.body;
    return json::parse(response.body, nullptr, false);
  }
  std::int64_t letter(std::int64_t position) {
    return tables::write_consumer_letter(session(),
                                         {.consumer = "post_stats",
                                          .lane = 0,
                                          .timeline = 1,
                                          .position = position,
                                          .operation = "create",
                                          .payload = {},
                                          .error = "refused",
                                          .sqlstate = {}},
                                         clock_.now())
        .value();
  }
  /// A projection that is built.
  void add_consumer() {
    consumers::add_consumer(session(), {.name = "post_stats"});
    consumers::ConsumerMetrics metrics;
    while (consumers::build_projection(session(), metrics) ||
           consumers::exchange_projection(session())) {
    }
  }
  std::string consumer() {
    return value("SELECT state || ' ' || paused FROM skua.consumers WHERE name = 'post_stats'");
  }

  test::ManualClock clock_;
  postgres::Runtime runtime_{database_.url(), clock_};
  std::unique_ptr<AdminApi> api_;
  http_server::Server::Routes routes_;
  bool is_started_ = false;
};

TEST_F(AdminApiTest, counts_requests_by_result) {
  add_consumer();
  const auto count = [&](RequestEnd end) {
    return static_cast<std::uint64_t>(api_->metrics().requests.at(static_cast<std::size_t>(end)));
  };
  send("/admin/consumers/pause", {{"name", "post_stats"}});
  EXPECT_EQ(count(RequestEnd::Executed), 1U);
  send("/admin/consumers/pause", {{"name", "nothing"}});
  send("/admin/consumers/pause", json::array());
  EXPECT_EQ(count(RequestEnd::Rejected), 2U);
  EXPECT_TRUE(routes_.at("/admin/check").guard({}).has_value());
  EXPECT_EQ(count(RequestEnd::Unauthorized), 1U);
  EXPECT_EQ(count(RequestEnd::Failed), 0U);
}

TEST_F(AdminApiTest, a_consumer_is_paused_and_resumed_and_a_repetition_changes_nothing) {
  add_consumer();
  for (int i = 0; i < 2; ++i) {
    const json paused = accepted("/admin/consumers/pause", {{"name", "post_stats"}});
    EXPECT_EQ(paused["paused"], true);
    EXPECT_EQ(consumer(), "running true");
  }
  for (int i = 0; i < 2; ++i) {
    accepted("/admin/consumers/resume", {{"name", "post_stats"}});
    EXPECT_EQ(consumer(), "running false");
  }
}

TEST_F(AdminApiTest, a_stopped_consumer_is_reset) {
  add_consumer();
  const Response refused = send("/admin/consumers/reset", {{"name", "post_stats"}});
  EXPECT_EQ(refused.status, 409U) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("is not stopped"));
  session().run("UPDATE skua.consumers SET state = 'stopped', error = 'a change failed'");
  EXPECT_EQ(accepted("/admin/consumers/reset", {{"name", "post_stats"}})["state"], "running");
  EXPECT_EQ(consumer(), "running false");
}

TEST_F(AdminApiTest, a_consumer_is_rebuilt_once) {
  add_consumer();
  for (int i = 0; i < 2; ++i) {
    accepted("/admin/consumers/rebuild", {{"name", "post_stats"}});
    EXPECT_EQ(value("SELECT string_agg(role, ',' ORDER BY role) FROM skua.consumers"), "live,next");
  }
}

TEST_F(AdminApiTest, what_does_not_exist_is_404) {
  for (const Action& action : actions()) {
    if (action.parameter == Parameter::Name) {
      const Response response = send(action.path, {{"name", "nothing"}});
      EXPECT_EQ(response.status, 404U) << action.path << response.body;
    } else if (action.parameter == Parameter::Letters) {
      const Response response = send(action.path, {{"ids", {4711}}});
      EXPECT_EQ(response.status, 404U) << action.path << response.body;
      EXPECT_THAT(response.body, HasSubstr("4711"));
    }
  }
  EXPECT_EQ(send("/admin/repos/resync", {{"did", kNobody}}).status, 404U);
  EXPECT_EQ(value("SELECT count(*) FROM skua.backfill_jobs"), "0");
}

TEST_F(AdminApiTest, letters_are_resolved_and_discarded_once) {
  const auto first = letter(1);
  const auto second = letter(2);
  json answer = accepted("/admin/dead-letters/resolve", {{"ids", {first}}});
  EXPECT_EQ(answer["letters"], json({{{"id", first}, {"result", "resolved"}}}));
  answer = accepted("/admin/dead-letters/discard", {{"ids", {first, second}}});
  EXPECT_EQ(answer["letters"][0]["result"], "unchanged");
  EXPECT_EQ(answer["letters"][0]["message"], "is resolved already");
  EXPECT_EQ(answer["letters"][1]["result"], "discarded");
  EXPECT_EQ(value("SELECT string_agg(status, ',' ORDER BY id) FROM skua.dead_letter"),
            "resolved,discarded");
}

TEST_F(AdminApiTest, letters_are_selected_by_consumer_lane_and_error) {
  const auto first = letter(1);
  const auto second = letter(2);
  const std::string consumer =
      value(fmt::format("SELECT consumer FROM skua.dead_letter WHERE id = {}", first));
  session().run(fmt::format(
      "UPDATE skua.dead_letter SET lane = 1, error = 'HTTP 422' WHERE id = {}", second));
  const auto ids = [](const json& answer) {
    std::vector<std::int64_t> all;
    for (const json& entry : answer["letters"]) all.push_back(entry["id"]);
    return all;
  };
  const char* replay = "/admin/dead-letters/replay";
  EXPECT_THAT(ids(accepted(replay, {{"consumer", "nobody"}})), testing::IsEmpty());
  EXPECT_THAT(ids(accepted(replay, {{"consumer", consumer}, {"lane", 1}})),
              testing::ElementsAre(second));
  EXPECT_EQ(value("SELECT string_agg(status, ',' ORDER BY id) FROM skua.dead_letter"),
            "dead,requested");
  // A letter that is requested is not replayed again, and can be discarded.
  EXPECT_THAT(ids(accepted(replay, {{"consumer", consumer}})), testing::ElementsAre(first));
  const char* discard = "/admin/dead-letters/discard";
  EXPECT_THAT(ids(accepted(discard, {{"all", true}, {"error", "http"}})),
              testing::ElementsAre(second));
  EXPECT_EQ(value("SELECT string_agg(status, ',' ORDER BY id) FROM skua.dead_letter"),
            "requested,discarded");
}

TEST_F(AdminApiTest, too_many_letters_are_refused) {
  letter(1);
  session().run(fmt::format(
      "INSERT INTO skua.dead_letter (consumer, key, did, error, created_at, last_at) SELECT "
      "'indexer', n::text, '', 'x', now(), now() FROM generate_series(1, {}) AS n",
      kMostLetters));
  const Response response = send("/admin/dead-letters/resolve", {{"all", true}});
  EXPECT_EQ(response.status, 409U);
  EXPECT_THAT(response.body, HasSubstr("1001 letters match"));
  EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter WHERE status <> 'dead'"), "0");
}

TEST_F(AdminApiTest, nothing_changes_if_a_letter_does_not_exist) {
  const auto first = letter(1);
  const Response response = send("/admin/dead-letters/discard", {{"ids", {first, first + 7}}});
  EXPECT_EQ(response.status, 404U);
  EXPECT_THAT(response.body, HasSubstr(std::to_string(first + 7)));
  EXPECT_EQ(value("SELECT status FROM skua.dead_letter"), "dead");
}

TEST_F(AdminApiTest, a_letter_of_a_consumer_is_requested_once) {
  const auto first = letter(1);
  EXPECT_EQ(accepted("/admin/dead-letters/replay", {{"ids", {first}}})["letters"][0]["result"],
            "requested");
  EXPECT_EQ(value("SELECT status FROM skua.dead_letter"), "requested");
  EXPECT_EQ(accepted("/admin/dead-letters/replay", {{"ids", {first}}})["letters"][0]["result"],
            "not replayed");
}

TEST_F(AdminApiTest, nothing_is_replayed_during_a_bootstrap) {
  const auto first = letter(1);
  session().run(
      "INSERT INTO skua.dropped_indexes (name, relation, definition) VALUES ('a', 'b', 'c')");
  const Response refused = send("/admin/dead-letters/replay", {{"ids", {first}}});
  EXPECT_EQ(refused.status, 409U) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("a bootstrap is not finished"));
  EXPECT_EQ(value("SELECT status FROM skua.dead_letter"), "dead");
}

TEST_F(AdminApiTest, a_resync_queues_one_job) {
  session().run("INSERT INTO bsky.actors (did, indexed_at) VALUES ('" + kAlice + "', now())");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(accepted("/admin/repos/resync", {{"did", kAlice}})["state"], "queued");
    const auto jobs = backfill::read_jobs(session(), std::vector{kAlice});
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_EQ(jobs[0].state, backfill::JobState::Queued);
  }
}

TEST_F(AdminApiTest, an_account_is_excluded_and_included) {
  for (const bool changed : {true, false}) {
    EXPECT_EQ(accepted("/admin/filter/exclude", {{"did", kAlice}})["changed"], changed);
    EXPECT_TRUE(tables::load_filter(session())->excludes(kAlice));
  }
  for (const bool changed : {true, false}) {
    EXPECT_EQ(accepted("/admin/filter/include", {{"did", kAlice}})["changed"], changed);
    EXPECT_FALSE(tables::load_filter(session())->excludes(kAlice));
  }
}

TEST_F(AdminApiTest, the_queue_is_bounded) {
  std::vector<std::unique_ptr<Call>> calls;
  const auto call = [&] {
    return std::make_unique<Call>(routes_, "/admin/filter/exclude", json{{"did", kAlice}}.dump());
  };
  for (std::size_t i = 0; i < AdminApi::kQueue; ++i) calls.push_back(call());
  const Response refused = call()->response();
  EXPECT_EQ(refused.status, 503U);
  EXPECT_THAT(refused.body, HasSubstr("QueueFull"));
  for (const auto& waiting : calls) EXPECT_FALSE(waiting->is_answered());
  api_->start();
  for (const auto& waiting : calls) EXPECT_EQ(waiting->response().status, 200U);
  api_->stop();
}

TEST_F(AdminApiTest, a_request_that_waited_too_long_is_not_executed) {
  Call call(routes_, "/admin/filter/exclude", json{{"did", kAlice}}.dump());
  clock_.advance(AdminApi::kLongestWait + std::chrono::seconds(1));
  api_->start();
  EXPECT_EQ(call.response().status, 503U);
  api_->stop();
  EXPECT_FALSE(tables::load_filter(session())->excludes(kAlice));
}

TEST_F(AdminApiTest, a_role_without_the_rights_gets_403_and_the_api_continues) {
  session().run("ALTER DATABASE " + database_.name() + " SET role = 'pg_monitor'");
  const Response refused = send("/admin/filter/exclude", {{"did", kAlice}});
  EXPECT_EQ(refused.status, 403U) << refused.body;
  session().run("ALTER DATABASE " + database_.name() + " RESET role");
  EXPECT_EQ(send("/admin/filter/exclude", {{"did", kAlice}}).status, 200U);
}

TEST_F(AdminApiTest, a_lost_connection_is_503_and_the_api_continues) {
  accepted("/admin/filter/exclude", {{"did", kAlice}});
  session().run(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
      "WHERE datname = current_database() AND application_name LIKE 'skua admin%'");
  const Response refused = send("/admin/filter/include", {{"did", kAlice}});
  EXPECT_EQ(refused.status, 503U) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("DatabaseUnavailable"));
  accepted("/admin/filter/include", {{"did", kAlice}});
}

}  // namespace
}  // namespace skua::admin::admin_api_test
