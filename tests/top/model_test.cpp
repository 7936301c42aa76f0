#include "top/model.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "top/made_pages.hpp"

namespace skua::top::model_test {
namespace {

using namespace std::chrono_literals;

TEST(Model, shows_health_and_rates) {
  const Snapshot snapshot = made_model().snapshot(kMadeStart + 11s);
  EXPECT_EQ(snapshot.state, "not-ready");
  ASSERT_EQ(snapshot.problems.size(), 3U);
  EXPECT_EQ(snapshot.problems[0].code, "source-down");
  EXPECT_EQ(snapshot.problems[0].title, "a source cannot be reached");
  EXPECT_EQ(snapshot.problems[0].cure, "Check the address and the network.");
  EXPECT_TRUE(snapshot.problems[0].is_reason);
  EXPECT_FALSE(snapshot.problems[2].is_reason);
  EXPECT_EQ(snapshot.events_per_second, 40.0);
  EXPECT_EQ(snapshot.rows_per_second, 20.0);
  EXPECT_EQ(snapshot.lag, 0.5);
  EXPECT_NEAR(*snapshot.commit_p50, 0.005, 1e-9);
  EXPECT_EQ(snapshot.in_flight, 7.0);
  EXPECT_EQ(snapshot.dead_letters, 2.0);
  EXPECT_EQ(snapshot.process.age, 1.0);
  EXPECT_EQ(snapshot.process.failing_for, std::nullopt);
}

TEST(Model, shows_sources_workers_and_collections) {
  const Snapshot snapshot = made_model().snapshot(kMadeStart + 11s);
  ASSERT_EQ(snapshot.sources.size(), 2U);
  const auto& relay = snapshot.sources[0];
  EXPECT_EQ(relay.name, "relay:a");
  EXPECT_TRUE(relay.is_connected);
  EXPECT_EQ(relay.role, "active");
  EXPECT_EQ(relay.cursor, 12345.0);
  EXPECT_EQ(relay.verified_per_second, 40.0);
  EXPECT_EQ(relay.waiting_accounts, 4.0);
  ASSERT_EQ(relay.dropped.size(), 1U);
  EXPECT_EQ(relay.dropped[0].first, "old_rev");
  EXPECT_FALSE(snapshot.sources[1].is_connected);
  // Not known: without a connection no event waits.
  EXPECT_EQ(snapshot.sources[1].lag, std::nullopt);
  EXPECT_EQ(snapshot.lag, 0.5);
  EXPECT_EQ(snapshot.sources[1].cursor, std::nullopt);
  ASSERT_EQ(snapshot.workers.size(), 30U);
  EXPECT_EQ(snapshot.workers[2].name, "live actor 2");
  EXPECT_EQ(snapshot.workers[2].queued, 6000.0);
  EXPECT_EQ(snapshot.workers[2].events_per_second, 40.0);
  ASSERT_EQ(snapshot.collections.size(), 2U);
  EXPECT_EQ(snapshot.collections[0].name, "app.bsky.feed.post");
  EXPECT_EQ(snapshot.collections[0].per_second, 40.0);
  EXPECT_TRUE(snapshot.collections[0].is_quiet);
  EXPECT_FALSE(snapshot.collections[1].is_quiet);
}

TEST(Model, shows_the_database) {
  const Snapshot snapshot = made_model().snapshot(kMadeStart + 11s);
  ASSERT_EQ(snapshot.consumers.size(), 1U);
  EXPECT_EQ(snapshot.consumers[0].state, "paused");
  EXPECT_EQ(snapshot.consumers[0].lag, 12.5);
  EXPECT_EQ(snapshot.consumers[0].retry, 7.5);
  EXPECT_EQ(snapshot.consumers[0].dead_letters, 3);
  EXPECT_EQ(snapshot.consumers[0].reason, "a lane failed");
  ASSERT_EQ(snapshot.letter_reasons.size(), 1U);
  EXPECT_EQ(snapshot.letter_reasons[0].count, 17.0);
  ASSERT_EQ(snapshot.letters.size(), 1U);
  EXPECT_EQ(snapshot.letters[0].id, 7.0);
  ASSERT_TRUE(snapshot.backfill.has_value());
  EXPECT_EQ(snapshot.backfill->seconds_left, 80.0);
  ASSERT_EQ(snapshot.backfill->hosts.size(), 1U);
  ASSERT_TRUE(snapshot.database.has_value());
  EXPECT_EQ(snapshot.database->bytes, 2.01e9);
  EXPECT_NEAR(*snapshot.database->growth_per_hour, 3.6e9, 1);
  ASSERT_EQ(snapshot.database->tables.size(), 2U);
  EXPECT_EQ(snapshot.database->tables[0].growth, 5e6);
  EXPECT_EQ(snapshot.database->tables[1].growth, 0.0);
  ASSERT_EQ(snapshot.posts.size(), 1U);
  EXPECT_EQ(snapshot.posts[0].text, "Hello");
}

TEST(Model, shows_the_nodes_of_a_query_database) {
  Model model;
  model.add(made_answer(Page::Health, R"({"status":"ready","reasons":[],"warnings":[]})"));
  model.add(made_answer(Page::Process, R"({"sources":[],"workers":[],"collections":[]})"));
  model.add(made_answer(Page::Status, made_network()));
  model.add(made_answer(Page::Latest, "{}", {}, 404));
  const Snapshot snapshot = model.snapshot(kMadeStart);
  ASSERT_TRUE(snapshot.network);
  ASSERT_EQ(snapshot.network->nodes.size(), 2U);
  const auto& [west, east] = std::pair(snapshot.network->nodes[0], snapshot.network->nodes[1]);
  EXPECT_EQ(west.name + " " + west.groups, "west 0-31");
  EXPECT_EQ(west.read_up_to, "2026-06-15 12:00:00");
  EXPECT_EQ(west.age, 3);
  EXPECT_TRUE(west.references_wait);
  EXPECT_EQ(east.problem, "could not connect to server");
  EXPECT_FALSE(east.age);
  EXPECT_EQ(snapshot.network->missing_groups, "62-63");
  EXPECT_FALSE(snapshot.database_pages.failing_for);
  EXPECT_FALSE(snapshot.database);
}

TEST(Model, knows_nothing_before_the_first_answer) {
  const Snapshot snapshot = Model().snapshot(kMadeStart);
  EXPECT_EQ(snapshot.state, "");
  EXPECT_EQ(snapshot.process.age, std::nullopt);
  EXPECT_EQ(snapshot.events_per_second, std::nullopt);
  EXPECT_FALSE(snapshot.database.has_value());
}

TEST(Model, keeps_the_numbers_while_nobody_answers) {
  Model model = made_model();
  model.add(made_failure(Page::Process, "connection refused", 12s));
  model.add(made_failure(Page::Process, "connection reset", 14s));
  Snapshot snapshot = model.snapshot(kMadeStart + 20s);
  EXPECT_EQ(snapshot.process.failing_for, 8.0);
  EXPECT_EQ(snapshot.process.age, 10.0);
  EXPECT_EQ(snapshot.process.failure, "connection reset");
  EXPECT_EQ(snapshot.events_per_second, 40.0);
  EXPECT_EQ(snapshot.sources.size(), 2U);
  EXPECT_EQ(snapshot.database_pages.failing_for, std::nullopt);
  model.add(made_answer(Page::Process, made_process(90), 21s));
  model.add(made_answer(Page::Health, made_health(), 21s, 503));
  snapshot = model.snapshot(kMadeStart + 21s);
  EXPECT_EQ(snapshot.process.failing_for, std::nullopt);
  EXPECT_EQ(snapshot.process.age, 0.0);
}

TEST(Model, has_no_rates_right_after_a_restart_of_the_process) {
  Model model = made_model();
  auto page = nlohmann::json::parse(made_process(40));
  page["events_per_second"] = nullptr;
  page["collections"][0]["per_second"] = nullptr;
  model.add(made_answer(Page::Process, page.dump(), 12s));
  Snapshot snapshot = model.snapshot(kMadeStart + 12s);
  EXPECT_EQ(snapshot.events_per_second, std::nullopt);
  EXPECT_EQ(snapshot.collections.at(0).per_second, std::nullopt);
  model.add(made_answer(Page::Process, made_process(10), 14s));
  snapshot = model.snapshot(kMadeStart + 14s);
  EXPECT_EQ(snapshot.events_per_second, 10.0);
}

TEST(Model, knows_what_an_older_process_has) {
  Model model;
  model.add(made_answer(Page::Health, made_health("", true)));
  model.add(made_answer(Page::Process, R"({"error":"NotFound"})", 0s, 404));
  model.add(made_answer(Page::Status, made_status(2e9)));
  const Snapshot snapshot = model.snapshot(kMadeStart);
  EXPECT_EQ(snapshot.state, "ready");
  EXPECT_EQ(snapshot.process.failure,
            "/status/process: the process is older than this program, and has no such page");
  EXPECT_EQ(snapshot.consumers.size(), 1U);
}

TEST(Model, shows_why_the_database_pages_fail) {
  Model model = made_model();
  const char* body = R"({"error":"database-down","message":"connection refused"})";
  model.add(made_answer(Page::Status, body, 14s, 503));
  const Snapshot snapshot = model.snapshot(kMadeStart + 15s);
  EXPECT_EQ(snapshot.database_pages.failing_for, 1.0);
  EXPECT_EQ(snapshot.database_pages.failure, "/status: database-down: connection refused");
  EXPECT_EQ(snapshot.database_pages.age, 5.0);
  EXPECT_EQ(snapshot.process.failing_for, std::nullopt);
  EXPECT_TRUE(snapshot.database.has_value());
}

struct Wrong {
  Page page;
  unsigned status;
  const char* body;
  const char* failure;
};

class WrongAnswer : public testing::TestWithParam<Wrong> {};

TEST_P(WrongAnswer, is_a_failure_and_changes_nothing_else) {
  const auto& [page, status, body, failure] = GetParam();
  Model model = made_model();
  model.add(made_answer(page, body, 12s, status));
  const Snapshot snapshot = model.snapshot(kMadeStart + 12s);
  const bool is_process = page == Page::Health || page == Page::Process;
  EXPECT_EQ((is_process ? snapshot.process : snapshot.database_pages).failure, failure);
  EXPECT_EQ(snapshot.state, "not-ready");
  EXPECT_EQ(snapshot.events_per_second, 40.0);
  EXPECT_EQ(snapshot.posts.size(), 1U);
  EXPECT_TRUE(snapshot.database.has_value());
}

INSTANTIATE_TEST_SUITE_P(
    Answers, WrongAnswer,
    testing::Values(
        Wrong{Page::Health, 200, "", "/health/ready: the answer is not that of a Skua process"},
        Wrong{Page::Health, 200, "[]", "/health/ready: the answer is not that of a Skua process"},
        Wrong{Page::Health, 200, "{\"status\":7}",
              "/health/ready: the answer is not that of a Skua process"},
        Wrong{Page::Health, 404, "{}", "/health/ready: HTTP status 404"},
        Wrong{Page::Process, 200, "<html>",
              "/status/process: the answer is not that of a Skua process"},
        Wrong{Page::Process, 200, "{\"status\":\"ready\"}",
              "/status/process: the answer is not that of a Skua process"},
        Wrong{Page::Process, 500, "a 1", "/status/process: HTTP status 500"},
        Wrong{Page::Status, 200, "{\"a\":\"\xff\"}",
              "/status: the answer is not that of a Skua process"},
        Wrong{Page::Status, 301, "", "/status: HTTP status 301"},
        Wrong{Page::Latest, 503, "{\"error\":\"DatabaseError\"}", "/latest: DatabaseError"}));

class OddPage : public testing::TestWithParam<const char*> {};

TEST_P(OddPage, has_missing_fields) {
  Model model;
  const std::string body = GetParam();
  for (const Page page : {Page::Health, Page::Process, Page::Status, Page::Latest}) {
    model.add(made_answer(page, body));
  }
  const Snapshot snapshot = model.snapshot(kMadeStart);
  EXPECT_EQ(snapshot.state, "ready");
  EXPECT_FALSE(snapshot.database && snapshot.database->bytes);
  EXPECT_EQ(snapshot.events_per_second, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    Pages, OddPage,
    testing::Values(
        R"({"status":"ready"})",
        R"({"status":"ready","sources":[7,[],{"source":7,"is_connected":1,"cursor":"x",)"
        R"("dropped":[1]},{"dropped":{"a":"x","b":[]}}],"workers":{"worker":"x"},)"
        R"("collections":[{"operations":"many"}],"commit_latency_seconds":5,)"
        R"("events_per_second":"fast"})",
        R"({"status":"ready","reasons":7,"warnings":{"a":[]},"posts":"x","dead_letters":null,)"
        R"("tables":[[],7,null,"x",{"table":7,"bytes":"many"}],"consumers":[{"lanes":7}],)"
        R"("database_bytes":"large","backfill":{"jobs":[],"hosts":[7],"metrics":8,"is_running":1}})",
        R"({"status":"ready","reasons":[7,null,{"code":[]}],"consumers":[{"lanes":[{"error":1}]}],)"
        R"("backfill":[],"posts":[{}],"dead_letters":[{"id":"x","count":{}}]})"));

TEST(Model, reads_deep_json) {
  // Recursion would need more than the stack of a thread.
  constexpr std::size_t kDepth = 200'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  Model model = made_model();
  const std::vector<std::pair<Page, const char*>> fields = {
      {Page::Health, R"("status":"ready","reasons")"},
      {Page::Process, "\"sources\""},
      {Page::Status, "\"tables\""},
      {Page::Latest, "\"posts\""}};
  for (const auto& [page, name] : fields) {
    model.add(made_answer(page, fmt::format("{{{}:{}}}", name, deep), 12s));
  }
  const Snapshot snapshot = model.snapshot(kMadeStart + 13s);
  EXPECT_EQ(snapshot.state, "ready");
  EXPECT_EQ(snapshot.problems.size(), 1U);
  EXPECT_EQ(snapshot.posts.size(), 1U);
}

TEST(Model, bounds_the_lists) {
  nlohmann::json page = {{"posts", nlohmann::json::array()}};
  for (int i = 0; i < 2'000; ++i) page["posts"].push_back({{"name", "a"}, {"text", "b"}});
  nlohmann::json process = {{"sources", nlohmann::json::array()}};
  nlohmann::json drops;
  for (int i = 0; i < 2'000; ++i) drops[fmt::format("reason{}", i)] = i;
  for (int i = 0; i < 2'000; ++i) process["sources"].push_back({{"source", "a"}});
  process["sources"][0]["dropped"] = drops;
  Model model;
  model.add(made_answer(Page::Latest, page.dump()));
  model.add(made_answer(Page::Process, process.dump()));
  const Snapshot snapshot = model.snapshot(kMadeStart);
  EXPECT_EQ(snapshot.posts.size(), Snapshot::kMostRows);
  EXPECT_EQ(snapshot.sources.size(), Snapshot::kMostRows);
  EXPECT_EQ(snapshot.sources[0].dropped.size(), Snapshot::kMostRows);
}

}  // namespace
}  // namespace skua::top::model_test
