#include "writer/worker_pool.hpp"

#include <chrono>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "atproto/tid.hpp"
#include "pipeline/in_flight.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::writer::worker_pool_test {
namespace {

using event::EventSource;
using event::UnresolvedEvent;
using test::made_follow;
using test::made_like;
using test::made_post;
using test::made_write;

const std::string kPost = "app.bsky.feed.post";

std::string did(int number) {
  return "did:plc:account" + std::to_string(number);
}

std::string rkey(std::uint64_t number) {
  return atproto::Tid{(std::uint64_t{1} << 60) + number}.to_string();
}

/// Marks written events as finished, as the pipeline does.
class StreamProducer final : public Producer {
 public:
  explicit StreamProducer(pipeline::InFlightList& list) : list_(list) {}

  void written(std::span<const event::Chunk* const> chunks) override {
    std::vector<pipeline::InFlightList::Ticket> tickets;
    for (const event::Chunk* chunk : chunks) {
      for (const auto& event : chunk->events) tickets.push_back(event.event.ticket);
    }
    list_.finish(tickets, {});
  }
  bool is_crowded() const override { return false; }
  Counters& counters() override { return counted; }

  Counters counted;

 private:
  pipeline::InFlightList& list_;
};

class WorkerPoolTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  void open() {
    pool_ = std::make_unique<WorkerPool>(runtime_);
    pool_->add_source("relay:test", producer_);
    pool_->start();
  }

  /// Passes an event as the pipeline does: first to the in-flight list, then to the worker.
  void push(UnresolvedEvent event) {
    const auto ticket = in_flight_.admit({.seq = event.seq, .bytes = event.did.size()});
    ASSERT_TRUE(ticket);
    in_flight_.decoded(*ticket, 1, {});
    event.ticket = *ticket;
    pool_->push(std::move(event));
  }

  bool all_durable() {
    return in_flight_.wait_until_empty(std::chrono::steady_clock::now() + std::chrono::minutes(2));
  }

  test::ManualClock clock_;
  ids::SharedIds ids_;
  pipeline::InFlightList in_flight_{{.frames = 100'000, .bytes = std::size_t{1} << 30}};
  StreamProducer producer_{in_flight_};
  const Counters& counters_ = producer_.counted;
  postgres::Runtime runtime_{database_.url(), clock_};
  std::unique_ptr<WorkerPool> pool_;
};

TEST_F(WorkerPoolTest, writes_events_of_every_type_and_of_both_sources) {
  open();
  std::uint64_t rev = 0;
  for (int i = 0; i < 100; ++i) {
    for (const auto source : {EventSource::Live, EventSource::Backfill}) {
      ++rev;
      const std::string target = "at://" + did(i) + "/app.bsky.feed.post/" + rkey(rev);
      std::vector<UnresolvedEvent> events;
      events.push_back(made_write(did(i), kPost, rkey(rev), rev, made_post("p")));
      events.push_back(made_write(did(i), "app.bsky.feed.like", rkey(rev), rev, made_like(target)));
      events.push_back(
          made_write(did(i), "app.bsky.graph.follow", rkey(rev), rev, made_follow(did(i + 1))));
      events.push_back(made_write(did(i), "com.example.thing", rkey(rev), rev, {{"a", 1}}));
      events.push_back(
          made_write(did(i), "app.bsky.actor.profile", "self", rev, {{"displayName", "n"}}));
      for (auto& event : events) {
        event.source = source;
        push(std::move(event));
      }
    }
  }
  ASSERT_TRUE(all_durable());
  pool_->end(true);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NOT NULL"), "200");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.likes"), "200");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.follows"), "200");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.records"), "200");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.profiles"), "100");
  EXPECT_EQ(counters_.events, 1'000U);
  EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
  const WorkerMetrics& metrics = pool_->metrics();
  const auto sum = [](const auto& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  EXPECT_EQ(sum(metrics.finished), 1'000U);
  EXPECT_EQ(sum(metrics.queued), 0U);
  EXPECT_EQ(sum(metrics.queue_wait.counts()), 1'000U);
  EXPECT_EQ(sum(metrics.transaction.counts()), counters_.transactions);
}

TEST_F(WorkerPoolTest, a_source_can_come_and_go_while_it_runs) {
  open();
  for (int i = 0; i < 2; ++i) {
    auto producer = std::make_unique<StreamProducer>(in_flight_);
    const std::uint32_t origin = pool_->add_source("labeler:test" + std::to_string(i), *producer);
    EXPECT_EQ(origin, 1U) << "the origin is used again";
    // A dead letter names the source.
    UnresolvedEvent event = made_write(did(i), kPost, rkey(1), 1, made_post("p"));
    event.body = event::Rejection{"frame", "it is broken", {0xff}};
    event.seq = i + 1;
    event.origin = origin;
    push(std::move(event));
    ASSERT_TRUE(all_durable());
    const WorkerPool::Round round = pool_->round();
    while (!pool_->is_unused(round)) std::this_thread::yield();
    pool_->remove_source(origin);
    producer.reset();
  }
  EXPECT_EQ(value("SELECT string_agg(source, ' ' ORDER BY id) FROM skua.dead_letter"),
            "labeler:test0 labeler:test1");
  EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
}

TEST_F(WorkerPoolTest, an_event_that_the_database_refuses_is_isolated) {
  session().run(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "IF NEW.text = 'poison' THEN RAISE EXCEPTION 'refused' USING ERRCODE = '22000'; END IF; "
      "RETURN NEW; END $$");
  session().run(
      "CREATE TRIGGER refuse BEFORE INSERT ON bsky.posts FOR EACH ROW EXECUTE FUNCTION refuse()");
  open();
  for (std::uint64_t i = 1; i <= 300; ++i) {
    const bool poison = i % 100 == 37;
    push(made_write(did(1), kPost, rkey(i), i, made_post(poison ? "poison" : "good")));
  }
  ASSERT_TRUE(all_durable());
  pool_->end(true);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE text = 'good'"), "297");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts"), "297");
  EXPECT_EQ(value("SELECT count(*) || ' ' || max(sqlstate) || ' ' || min(length(payload)) "
                  "FROM skua.dead_letter"),
            "3 22000 " +
                std::to_string(std::get<event::RecordChange>(
                                   made_write(did(1), kPost, rkey(1), 1, made_post("poison")).body)
                                   .block.size()));
  EXPECT_EQ(in_flight_.watermark()->seq, 300);
  EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
}

TEST_F(WorkerPoolTest, loses_and_doubles_nothing_when_its_connections_are_killed) {
  open();
  std::uint64_t rev = 0;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 100; ++i) {
      ++rev;
      push(made_write(did(i), kPost, rkey(rev), rev, made_post("p")));
      push(made_write(did(i), "app.bsky.feed.like", rkey(rev), rev,
                      made_like("at://" + did(i + 1) + "/app.bsky.feed.post/" + rkey(rev))));
    }
    value(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE application_name LIKE 'skua %' AND datname = current_database()");
  }
  ASSERT_TRUE(all_durable());
  pool_->end(true);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NOT NULL"), "1200");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.likes"), "1200");
  EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter"), "0");
  // Every DID has one id; ids that a failed transaction used may be missing.
  EXPECT_EQ(value("SELECT count(*) || ' ' || count(DISTINCT did) FROM bsky.actors"), "101 101");
  EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
}

/// The deletion and the earlier records are in five lanes of three workers each. In any order of
/// the workers, no earlier record stays, and all later records do.
TEST_F(WorkerPoolTest, a_deleted_account_leaves_nothing_in_any_lane) {
  constexpr std::uint64_t kAccounts = 120;
  constexpr std::uint64_t kFloor = 1'000'000;
  open();
  const auto records = [&](int number, std::uint64_t rev) {
    const std::string key = rkey(rev);
    const std::string target = "at://" + did(0) + "/app.bsky.feed.post/" + rkey(1);
    std::vector<UnresolvedEvent> events;
    events.push_back(made_write(did(number), "app.bsky.feed.like", key, rev, made_like(target)));
    events.push_back(
        made_write(did(number), "app.bsky.graph.follow", key, rev, made_follow(did(0))));
    events.push_back(made_write(did(number), kPost, key, rev, made_post("p")));
    events.push_back(made_write(did(number), "com.example.thing", key, rev, {{"a", 1}}));
    events.push_back(made_write(did(number), "app.bsky.actor.profile", "self", rev,
                                {{"displayName", std::to_string(rev)}}));
    for (auto& event : events) push(std::move(event));
  };
  for (std::uint64_t i = 1; i <= kAccounts; ++i) {
    const int number = static_cast<int>(i);
    records(number, i);
    records(number, kFloor - i);
    UnresolvedEvent gone;
    gone.did = did(number);
    gone.type = records::RecordType::Actor;
    const Timestamp time{std::chrono::seconds(i)};
    gone.body = event::AccountChange{false, "deleted", time, true, {kFloor}};
    push(std::move(gone));
    if (i % 2 == 0) {
      UnresolvedEvent back;
      back.did = did(number);
      back.type = records::RecordType::Actor;
      back.body = event::AccountChange{true, "", time + std::chrono::seconds(1)};
      push(std::move(back));
      records(number, kFloor + i);
    }
  }
  ASSERT_TRUE(all_durable());
  pool_->end(true);
  EXPECT_EQ(value("SELECT count(*) || ' ' || count(*) FILTER (WHERE rev <= bsky.tid_text(" +
                  std::to_string(kFloor) + ")) FROM bsky.all_records"),
            std::to_string(kAccounts / 2 * 5) + " 0");
  EXPECT_EQ(value("SELECT string_agg(DISTINCT floor_rev::text, ' ') || ' ' || "
                  "count(*) FILTER (WHERE active) || ' ' || count(*) FILTER (WHERE NOT active) "
                  "FROM bsky.actors WHERE active IS NOT NULL"),
            std::to_string(kFloor) + " " + std::to_string(kAccounts / 2) + " " +
                std::to_string(kAccounts / 2));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NULL AND text IS NOT NULL"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter"), "0");
  EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
}

TEST_F(WorkerPoolTest, what_cannot_be_written_stays_unfinished) {
  open();
  const std::string allow = "WHERE datname = current_database()";
  session().run("UPDATE pg_database SET datallowconn = false " + allow);
  push(made_write(did(1), kPost, rkey(1), 1, made_post("p")));
  while (counters_.retries == 0) std::this_thread::yield();
  pool_->end(false);
  session().run("UPDATE pg_database SET datallowconn = true " + allow);
  EXPECT_EQ(in_flight_.frames(), 1U);
  EXPECT_FALSE(in_flight_.watermark());
  EXPECT_EQ(runtime_.fatal_error(), std::nullopt);
}

TEST_F(WorkerPoolTest, a_wrong_statement_stops_loudly) {
  session().run("ALTER TABLE bsky.posts RENAME TO renamed");
  open();
  push(made_write(did(1), kPost, rkey(1), 1, made_post("p")));
  pool_->end(true);
  EXPECT_NE(runtime_.fatal_error(), std::nullopt);
  EXPECT_EQ(in_flight_.frames(), 1U);
}

}  // namespace
}  // namespace skua::writer::worker_pool_test
