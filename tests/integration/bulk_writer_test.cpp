#include "writer/bulk_writer.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "atproto/tid.hpp"
#include "ids/resolver.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/cursor_store.hpp"
#include "tables/repository_table.hpp"
#include "writer/row_writer.hpp"
#include "writer/table_samples.hpp"

namespace skua::writer::bulk_writer_test {
namespace {

using event::ResolvedEvent;
using event::UnresolvedEvent;
using test::made_delete;
using test::made_follow;
using test::made_post;
using test::made_write;
using test::TableSample;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kPost = "app.bsky.feed.post";
const std::string kFollow = "app.bsky.graph.follow";
constexpr std::uint64_t kFirstKey = std::uint64_t{1} << 60U;

std::string key(std::size_t number) {
  return atproto::Tid{kFirstKey + number}.to_string();
}

class BulkWriterTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  using Events = std::vector<UnresolvedEvent>;

  std::vector<ResolvedEvent> resolved(Events events) {
    std::vector<ResolvedEvent> batch;
    for (auto& event : events) batch.push_back({std::move(event)});
    EXPECT_TRUE(ids::Resolver(session(), ids_, clock_).resolve(batch).empty());
    return batch;
  }
  /// As the chunk of a job.
  BulkWriter::Outcome bulk_by(std::int64_t lease_number, Events events) {
    const std::vector<ResolvedEvent> batch = resolved(std::move(events));
    const auto pointers = test::pointers_to(batch);
    const std::vector<std::int64_t> lease_numbers(pointers.size(), lease_number);
    return bulk_.write(session(), pointers, clock_.now(), lease_numbers);
  }
  /// A job of Alice's that runs under its third lease.
  void begin_job() {
    session().run(
        "INSERT INTO skua.backfill_jobs (did, state, lease_owner, lease_until, lease_number, "
        "created_at, "
        "next_attempt) VALUES ('" +
        kAlice + "', 'running', 'somebody', now() + interval '10 minutes', 3, now(), now())");
  }
  BulkWriter::Outcome bulk(Events events) {
    const std::vector<ResolvedEvent> batch = resolved(std::move(events));
    const auto pointers = test::pointers_to(batch);
    return bulk_.write(session(), pointers, clock_.now());
  }
  RowWriter::Outcome live(Events events) {
    const std::vector<ResolvedEvent> batch = resolved(std::move(events));
    return live_.write(session(), test::pointers_to(batch), clock_.now());
  }
  RowWriter::Outcome live(UnresolvedEvent event) {
    Events events;
    events.push_back(std::move(event));
    return live(std::move(events));
  }

  /// Live events of the account were durable up to this revision.
  void set_head(const std::string& did, std::uint64_t rev) {
    const std::vector<tables::RepositoryProgress> progress = {
        {{did, atproto::RepositoryHead{{rev}, atproto::Cid::of(Bytes())}}}};
    tables::save_repositories(session(), progress, tables::Resync::Complete, clock_.now());
  }

  /// `count` follows with keys of their own, all of one revision; `n` tells records apart.
  static Events follows(std::size_t count, std::uint64_t rev, int n = 0) {
    return many(count, rev, [&](std::size_t) {
      nlohmann::json record = made_follow(kBob);
      record["n"] = n;
      return record;
    });
  }
  static Events many(std::size_t count, std::uint64_t rev,
                     const std::function<nlohmann::json(std::size_t)>& record,
                     const std::string& collection = kFollow) {
    Events events;
    for (std::size_t i = 0; i < count; ++i) {
      events.push_back(made_write(kAlice, collection, key(i), rev, record(i)));
    }
    return events;
  }
  /// Where the rows lie, and which transactions put them there.
  std::string places(const std::string& table) {
    return value(
        "SELECT string_agg(concat_ws(' ', t.ctid, t.xmin, t.xmax, t.rev), ';' ORDER BY "
        "t.rkey) FROM bsky." +
        table + " t");
  }
  std::string count(const std::string& from) { return value("SELECT count(*) FROM " + from); }

  test::ManualClock clock_;
  ids::SharedIds ids_;
  const BulkWriter bulk_{SourceNames("backfill")};
  const RowWriter live_{SourceNames("relay:test")};
};

// --- every table

struct Way {
  std::string name;
  /// Rows beside the sample's: more than 50 are worth a COPY.
  std::size_t company;
  /// One of them has an older row already: merged, not copied straight in.
  bool has_row;
};

const std::vector<Way> kWays = {{"few", 5, false}, {"copied", 60, false}, {"mixed", 60, true}};

class EachBulkTable : public BulkWriterTest, public testing::WithParamInterface<TableSample> {
 protected:
  /// The sample under its own key, and under others.
  static Events records(const std::string& did, const Way& way, std::uint64_t rev,
                        const char* words) {
    const TableSample& sample = GetParam();
    nlohmann::json record = sample.record;
    record["zzNew"] = words;
    Events events;
    events.push_back(made_write(did, sample.collection, sample.rkey, rev, record));
    for (std::size_t i = 0; i < way.company; ++i) {
      events.push_back(made_write(did, sample.collection, key(i), rev, record));
    }
    return events;
  }
  /// Two accounts that begin alike.
  std::pair<std::string, std::string> begin(const Way& way) {
    std::pair<std::string, std::string> dids{"did:plc:" + way.name + "bulk",
                                             "did:plc:" + way.name + "live"};
    for (const std::string& did : {dids.first, dids.second}) {
      if (way.has_row) live(made_write(did, GetParam().collection, key(30), 1, GetParam().record));
    }
    return dids;
  }
  std::string rows_of(const std::string& did) {
    return value(
        "SELECT string_agg((to_jsonb(t) - 'actor_id')::text, ';' ORDER BY t.rkey) FROM bsky." +
        GetParam().table + " t WHERE t.cid IS NOT NULL AND t.actor_id = bsky.actor_id('" + did +
        "')");
  }
};

TEST_P(EachBulkTable, holds_what_the_live_writer_leaves_in_every_column) {
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.name);
    const auto [by_bulk, by_live] = begin(way);
    EXPECT_EQ(bulk(records(by_bulk, way, 10, "old")).rows, way.company + 1);
    live(records(by_live, way, 10, "old"));
    const std::string old = rows_of(by_bulk);
    EXPECT_NE(old, "");
    EXPECT_TRUE(old == rows_of(by_live)) << old << "\n" << rows_of(by_live);

    clock_.advance(std::chrono::hours(1));
    EXPECT_EQ(bulk(records(by_bulk, way, 11, "new")).rows, way.company + 1);
    live(records(by_live, way, 11, "new"));
    const std::string newest = rows_of(by_bulk);
    EXPECT_NE(newest, old);
    EXPECT_TRUE(newest == rows_of(by_live)) << newest << "\n" << rows_of(by_live);
    EXPECT_EQ(bulk(records(by_bulk, way, 10, "older")).rows, 0U);
    EXPECT_EQ(bulk(records(by_bulk, way, 11, "of the same revision")).rows, 0U);
    EXPECT_TRUE(rows_of(by_bulk) == newest);
  }
}

std::vector<TableSample> samples_and_records() {
  std::vector<TableSample> samples = test::table_samples();
  samples.push_back({"records", "com.example.thing", "odd:key", {{"a", 1}}, "", "", false});
  return samples;
}

INSTANTIATE_TEST_SUITE_P(Tables, EachBulkTable, testing::ValuesIn(samples_and_records()),
                         [](const auto& test) { return test.param.table; });

// --- what is there already

TEST_F(BulkWriterTest, rows_that_hold_the_same_record_are_not_touched) {
  bulk(follows(100, 10));
  set_head(kAlice, 20);
  const std::string before = places("follows");
  EXPECT_EQ(bulk(follows(100, 20)).rows, 0U);
  EXPECT_EQ(places("follows"), before);
}

/// A -> B -> A: the CAR of 20 finds the A of 10, and live events have yet to bring the B of 15.
/// When the floor is 20 the A of 17 does not come any more.
TEST_F(BulkWriterTest, what_was_between_does_not_come_back_where_live_lags_behind_the_car) {
  live(follows(100, 10));
  set_head(kAlice, 10);
  bulk(follows(100, 20));
  Events between = follows(100, 15, 1);
  between.resize(50);
  for (std::size_t i = 50; i < 100; ++i) {
    between.push_back(made_delete(kAlice, kFollow, key(i), 15));
  }
  live(std::move(between));
  EXPECT_EQ(value("SELECT count(*) || ' ' || min(extra ->> 'n') || max(extra ->> 'n') || ' ' || "
                  "min(rev) FROM bsky.follows"),
            "100 00 20");
}

TEST_F(BulkWriterTest, a_chunk_is_written_while_its_job_runs_by_its_claim) {
  begin_job();
  const auto ours = bulk_by(3, follows(100, 10));
  EXPECT_EQ(ours.rows, 100U);
  EXPECT_EQ(ours.lost, 0U);
  const auto former = bulk_by(2, follows(100, 20, 1));
  EXPECT_EQ(former.rows, 0U);
  EXPECT_EQ(former.lost, 100U);
  EXPECT_EQ(count("bsky.follows WHERE rev = 10"), "100");
}

TEST_F(BulkWriterTest, a_cancelled_or_expired_job_brings_nothing_back_that_was_deleted) {
  for (const std::string end :
       {"state = 'cancelled', lease_owner = NULL, lease_until = NULL",
        "state = 'running', lease_owner = 'another', lease_number = lease_number + 1",
        "lease_until = now() - interval '1 hour'"}) {
    SCOPED_TRACE(end);
    session().run("TRUNCATE bsky.follows, skua.backfill_jobs, skua.tombstones");
    begin_job();
    live(follows(100, 10));
    // Its CAR was read before; now a record goes, and its tombstone when the job is over.
    live(made_delete(kAlice, kFollow, key(7), 20));
    session().run("UPDATE skua.backfill_jobs SET " + end);
    tables::purge_all_tombstones(session(), "relay:test");
    EXPECT_EQ(bulk_by(3, follows(100, 10)).lost, 100U);
    EXPECT_EQ(count("bsky.follows"), "99");
  }
}

TEST_F(BulkWriterTest, chunks_of_jobs_and_of_none_share_a_transaction) {
  begin_job();
  Events events = follows(10, 10);
  for (auto& event : follows(10, 10)) {
    event.did = kBob;
    events.push_back(std::move(event));
  }
  for (auto& event : many(
           10, 10, [](std::size_t) { return made_post("words"); }, kPost)) {
    event.type = records::RecordType::Social;
    events.push_back(std::move(event));
  }
  const std::vector<ResolvedEvent> batch = resolved(std::move(events));
  std::vector<const ResolvedEvent*> pointers;
  for (const auto& event : batch) pointers.push_back(&event);
  std::vector<std::int64_t> lease_numbers(10, 2);
  lease_numbers.resize(20, 0);
  lease_numbers.resize(30, 3);
  const auto outcome = bulk_.write(session(), pointers, clock_.now(), lease_numbers);
  EXPECT_EQ(outcome.lost, 10U);
  EXPECT_EQ(count("bsky.follows"), "10");
  EXPECT_EQ(count("bsky.posts WHERE cid IS NOT NULL"), "10");
}

TEST_F(BulkWriterTest, stubs_become_posts) {
  // Each answers the next.
  bulk(many(
      100, 10,
      [](std::size_t i) {
        nlohmann::json post = made_post("words");
        const std::string uri = "at://" + kAlice + "/" + kPost + "/" + key(i + 1);
        const std::string cid = atproto::Cid::of(as_bytes(uri)).to_string();
        post["reply"] = {{"root", {{"uri", uri}, {"cid", cid}}},
                         {"parent", {{"uri", uri}, {"cid", cid}}}};
        return post;
      },
      kPost));
  EXPECT_EQ(count("bsky.posts WHERE cid IS NOT NULL AND NOT is_deleted AND rev = 10"), "100");
  EXPECT_EQ(count("bsky.posts WHERE cid IS NULL"), "1");
}

/// Of a hundred posts some were referred to, some deleted since or before, some are there as they
/// are, some at a later revision: each ends as the live writer leaves it.
TEST_F(BulkWriterTest, posts_end_as_the_live_writer_leaves_them_whatever_was_there) {
  const auto posts = [](const std::string& did, std::uint64_t rev, std::size_t from, std::size_t to,
                        const char* words) {
    Events events;
    for (std::size_t i = from; i < to; ++i) {
      events.push_back(made_write(did, kPost, key(i), rev, made_post(words)));
    }
    return events;
  };
  const auto begin = [&](const std::string& did) {
    Events before;
    for (std::size_t i = 0; i < 30; ++i) {
      before.push_back(made_write(kBob, "app.bsky.feed.like", key(100 + i), 9,
                                  test::made_like("at://" + did + "/" + kPost + "/" + key(2 * i))));
    }
    for (std::size_t i = 60; i < 70; ++i) before.push_back(made_delete(did, kPost, key(i), 20));
    for (std::size_t i = 70; i < 80; ++i) before.push_back(made_delete(did, kPost, key(i), 5));
    for (auto& event : posts(did, 5, 80, 85, "words")) before.push_back(std::move(event));
    for (auto& event : posts(did, 30, 85, 90, "later")) before.push_back(std::move(event));
    live(std::move(before));
  };
  const auto rows_of = [&](const std::string& did) {
    return value(
        "SELECT string_agg((to_jsonb(p) - 'actor_id')::text, E'\\n' ORDER BY rkey) "
        "FROM bsky.posts AS p WHERE actor_id = bsky.actor_id('" +
        did + "')");
  };
  const std::string carol = "did:plc:carol";
  begin(kAlice);
  begin(carol);
  clock_.advance(std::chrono::hours(1));
  // Five posts of an older revision have the same content, ten are newer, ten deletes are newer.
  EXPECT_EQ(bulk(posts(kAlice, 10, 0, 100, "words")).rows, 80U);
  live(posts(carol, 10, 0, 100, "words"));
  EXPECT_EQ(count("bsky.posts WHERE rev = 10 AND text = 'words'"), "170");
  EXPECT_EQ(rows_of(kAlice), rows_of(carol));
}

/// A revision of 0 is none that a stub gives way to.
TEST_F(BulkWriterTest, a_post_of_revision_zero_does_not_replace_a_stub) {
  Events likes;
  likes.push_back(made_write(kBob, "app.bsky.feed.like", key(0), 9,
                             test::made_like("at://" + kAlice + "/" + kPost + "/" + key(7))));
  bulk(std::move(likes));
  const auto post = [](std::size_t) { return made_post("words"); };
  EXPECT_EQ(bulk(many(100, 0, post, kPost)).rows, 99U);
  EXPECT_EQ(count("bsky.posts WHERE cid IS NULL"), "1");
}

TEST_F(BulkWriterTest, a_part_of_what_is_there_is_merged_and_the_rest_copied) {
  bulk(follows(200, 10));
  session().run("DELETE FROM bsky.follows WHERE rkey % 2 = 0");
  EXPECT_EQ(bulk(follows(200, 20, 1)).rows, 200U);
  EXPECT_EQ(count("bsky.follows WHERE rev = 20 AND extra ->> 'n' = '1'"), "200");
}

/// Ten times as many rows between the first and the last as there are events: more than are read.
TEST_F(BulkWriterTest, few_among_many_are_merged) {
  bulk(follows(1000, 10));
  session().run("DELETE FROM bsky.follows WHERE (rkey - " + std::to_string(kFirstKey) +
                ") % 100 = 0");
  Events all = follows(1000, 20, 1);
  Events some;
  for (std::size_t i = 0; i < all.size(); i += 10) some.push_back(std::move(all[i]));
  EXPECT_EQ(bulk(std::move(some)).rows, 100U);
  EXPECT_EQ(count("bsky.follows WHERE rev = 20"), "100");
  EXPECT_EQ(count("bsky.follows"), "1000");
}

TEST_F(BulkWriterTest, rows_that_come_after_it_looked_are_merged_with) {
  bulk(follows(1, 10));
  postgres::Session other(database_.url(), "other");
  std::jthread thread;
  {
    // Not committed yet: what looks does not see it, what inserts waits for it.
    postgres::Transaction open(other);
    other.run(
        "INSERT INTO bsky.follows SELECT (jsonb_populate_record(f, jsonb_build_object("
        "'rkey', f.rkey + 7, 'rev', 30))).* FROM bsky.follows AS f");
    thread = std::jthread([&] { EXPECT_EQ(bulk(follows(100, 20)).rows, 98U); });
    postgres::Session watching(database_.url(), "watching");
    while (!test::a_session_waits_for_a_lock(watching)) std::this_thread::yield();
    open.commit();
  }
  thread.join();
  EXPECT_EQ(count("bsky.follows WHERE rev = 20"), "99");
  EXPECT_EQ(count("bsky.follows WHERE rev = 30"), "1");
}

// --- what holds records back

class BulkSizes : public BulkWriterTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(BulkSizes, tombstones_hold_back_what_is_older) {
  live(made_delete(kAlice, kFollow, key(0), 20));
  live(made_delete(kAlice, kFollow, key(1), 21));
  const auto outcome = bulk(follows(GetParam(), 20));
  EXPECT_EQ(outcome.rows, GetParam() - 2);
  EXPECT_EQ(outcome.unchanged, 2U);
  bulk(follows(GetParam(), 21));
  EXPECT_EQ(count("bsky.follows"), std::to_string(GetParam() - 1));
  bulk(follows(GetParam(), 22));
  EXPECT_EQ(count("bsky.follows"), std::to_string(GetParam()));
}

TEST_P(BulkSizes, the_floor_holds_back_what_is_older_and_of_a_deleted_account_what_it_had_then) {
  live(made_write(kAlice, kPost, key(0), 1, made_post("words")));
  session().run("UPDATE bsky.actors SET floor_rev = 20 WHERE did = '" + kAlice + "'");
  EXPECT_EQ(bulk(follows(GetParam(), 19)).rows, 0U);
  session().run("UPDATE bsky.actors SET status = 'deleted', active = false WHERE did = '" + kAlice +
                "'");
  EXPECT_EQ(bulk(follows(GetParam(), 20)).rows, 0U);
  session().run("UPDATE bsky.actors SET status = NULL, active = true WHERE did = '" + kAlice + "'");
  EXPECT_EQ(bulk(follows(GetParam(), 20)).rows, GetParam());
}

TEST_P(BulkSizes, records_move_between_their_table_and_the_invalid_ones) {
  const auto some_invalid = [](std::size_t which, std::uint64_t rev, std::size_t size) {
    return many(size, rev, [&](std::size_t i) {
      nlohmann::json record = made_follow(kBob);
      if (i % 2 == which) record.erase("createdAt");
      return record;
    });
  };
  const std::string half = std::to_string(GetParam() / 2);
  for (const std::uint64_t rev : {10U, 11U, 12U, 13U}) {
    bulk(some_invalid(rev % 2, rev, GetParam()));
    EXPECT_EQ(count("bsky.follows WHERE rev = " + std::to_string(rev)), half);
    EXPECT_EQ(count("bsky.records WHERE rev = " + std::to_string(rev)), half);
    EXPECT_EQ(count("bsky.all_records"), std::to_string(GetParam()));
    EXPECT_EQ(bulk(some_invalid((rev + 1) % 2, rev - 1, GetParam())).rows, 0U);
  }
}

TEST_P(BulkSizes, rejections_are_dead_letters_once) {
  const auto events = [size = GetParam()] {
    Events all = follows(size, 10);
    for (std::uint8_t i = 0; i < 3; ++i) {
      UnresolvedEvent& event = all.emplace_back();
      event.did = kAlice;
      event.type = records::record_type_of(kFollow);
      event.body = event::Rejection{kFollow + "/" + std::to_string(i), "no DAG-CBOR", {i, 0xff}};
    }
    return all;
  };
  const auto outcome = bulk(events());
  EXPECT_EQ(outcome.rows, GetParam());
  EXPECT_EQ(outcome.dead_letters, 3U);
  bulk(events());
  EXPECT_EQ(value("SELECT count(*) || ' ' || max(error) FROM skua.dead_letter"), "3 no DAG-CBOR");
}

INSTANTIATE_TEST_SUITE_P(Events, BulkSizes, testing::Values(10, 200));

}  // namespace
}  // namespace skua::writer::bulk_writer_test
