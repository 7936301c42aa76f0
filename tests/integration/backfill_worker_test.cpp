#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "atproto/tid.hpp"
#include "postgres/locks.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "writer/worker.hpp"
#include "writer/write_policy.hpp"

namespace skua::writer::backfill_worker_test {
namespace {

using event::Chunk;
using std::chrono::milliseconds;
using test::made_follow;
using test::made_post;
using test::made_write;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kPost = "app.bsky.feed.post";
const std::string kFollow = "app.bsky.graph.follow";

std::string key(std::size_t number) {
  return atproto::Tid{(std::uint64_t{1} << 60U) + number}.to_string();
}

/// A clock on which every look takes time: what happens between two looks takes that long.
class TakingClock final : public Clock {
 public:
  Timestamp now() const override {
    on_look();
    clock_.advance(look_.load());
    return clock_.now();
  }
  void set_look(std::chrono::microseconds takes) { look_ = takes; }

  /// On the thread that looks.
  std::function<void()> on_look = [] {};

 private:
  mutable test::ManualClock clock_;
  std::atomic<std::chrono::microseconds> look_{std::chrono::microseconds(0)};
};

/// A chunk that is durable.
struct WrittenChunk {
  std::uint64_t repository = 0;
  std::size_t records = 0;
  std::size_t bytes = 0;
};

/// Remembers the chunks that are durable.
class TestProducer final : public Producer {
 public:
  void written(std::span<const event::Chunk* const> chunks) override {
    for (const event::Chunk* chunk : chunks) {
      all.push_back({chunk->repository, chunk->events.size(), chunk->bytes});
      ++count;
    }
    count.notify_all();
  }
  bool is_crowded() const override { return false; }
  Counters& counters() override { return counted; }

  /// No more will come.
  void end() {
    count = 1'000'000;
    count.notify_all();
  }

  Counters counted;
  std::vector<WrittenChunk> all;  // of the worker's thread until it ends
  std::atomic<std::size_t> count{0};
};

class BackfillWorkerTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::unique_ptr<WorkerServices> services(const std::string& url, LiveBackpressure& pressure,
                                           TestProducer& producer) {
    return std::unique_ptr<WorkerServices>(
        new WorkerServices{.runtime = runtimes_.emplace_back(
                               url, clock_, [&producer](const std::string&) { producer.end(); }),
                           .sources = SourceNames("backfill"),
                           .producers = producers_.emplace_back(1, &producer),
                           .ids = ids_,
                           .lexicons = lexicons_,
                           .live_backpressure = pressure,
                           .metrics = metrics_,
                           .monotonic = clock_});
  }
  std::unique_ptr<Worker> worker(const WorkerServices& services) {
    return std::make_unique<Worker>(kWorkers / 2, std::make_unique<BackfillPolicy>(services),
                                    permits_, services);
  }
  void open(const std::string& url) {
    services_ = services(url, pressure_, producer_);
    worker_ = worker(*services_);
  }
  /// Of all workers.
  std::optional<std::string> fatal_error() const {
    for (const postgres::Runtime& runtime : runtimes_) {
      if (auto error = runtime.fatal_error()) return error;
    }
    return std::nullopt;
  }
  void finish() {
    worker_->finish();
    worker_->join();
  }
  void wait_for_chunks(std::size_t count) {
    for (std::size_t seen = producer_.count; seen < count; seen = producer_.count) {
      producer_.count.wait(seen);
    }
  }

  /// Records of one account with the keys from `first` on; `change` makes each its own.
  static Chunk records(std::uint64_t repository, const std::string& did, std::size_t count,
                       std::size_t first = 0, const std::string& collection = kFollow,
                       const std::function<void(std::size_t, nlohmann::json&)>& change = {}) {
    Chunk chunk;
    chunk.repository = repository;
    for (std::size_t i = 0; i < count; ++i) {
      nlohmann::json record = collection == kPost ? made_post("words") : made_follow(kBob);
      if (change) change(i, record);
      auto& event = chunk.events.emplace_back();
      event.event = made_write(did, collection, key(first + i), 10, record);
      event.event.source = event::EventSource::Backfill;
      event.event.seq = 0;  // nothing of a CAR has a place in a stream
      chunk.bytes += event.change().block.size();
    }
    return chunk;
  }
  static void add_rejection(Chunk& chunk) {
    event::UnresolvedEvent event;
    event.source = event::EventSource::Backfill;
    event.did = chunk.did();
    event.type = chunk.lane().type;
    event.body = event::Rejection{kFollow + "/rejected", "no DAG-CBOR", {0xff}};
    chunk.events.emplace_back().event = std::move(event);
  }

  std::string count(const std::string& from) { return value("SELECT count(*) FROM " + from); }
  /// How many follows each transaction left, in the order of their keys.
  std::string sizes() {
    return value(
        "SELECT string_agg(n::text, ' ' ORDER BY first) FROM (SELECT count(*) AS n, min(rkey) AS "
        "first FROM bsky.follows GROUP BY xmin::text) AS t");
  }

  TakingClock clock_;
  ids::SharedIds ids_;
  AddedLexicons lexicons_{clock_};
  LiveBackpressure pressure_{10};
  WorkerMetrics metrics_;
  WritePermits permits_{1};
  TestProducer producer_;
  std::deque<std::vector<Producer*>> producers_;
  Counters& counters_ = producer_.counted;
  const std::vector<WrittenChunk>& written_ = producer_.all;
  std::deque<postgres::Runtime> runtimes_;
  std::unique_ptr<WorkerServices> services_;
  std::unique_ptr<Worker> worker_;
};

// --- what the database refuses

struct Refusal {
  std::string name;
  /// Refuses rows of TABLE that say that they are poison.
  std::string sql;
  std::string sqlstate;
  std::string words;
};

const std::vector<Refusal> kRefusals = {
    {"trigger",
     "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
     "IF NEW.extra ->> 'poison' = 'yes' THEN "
     "RAISE EXCEPTION 'not this one' USING ERRCODE = '22000'; END IF; RETURN NEW; END $$; "
     "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON bsky.TABLE "
     "FOR EACH ROW EXECUTE FUNCTION refuse()",
     "22000", "not this one"},
    {"constraint",
     "ALTER TABLE bsky.TABLE ADD CONSTRAINT no_poison CHECK (extra ->> 'poison' IS NULL)", "23514",
     "no_poison"},
};

/// The ways in which rows reach a table.
struct Way {
  std::string name;
  std::string collection;
  std::string table;
  std::size_t records;
  /// The account has rows in the table already.
  bool has_rows = false;
};

const std::vector<Way> kWays = {
    {"few", kFollow, "follows", 20},
    {"copied", kFollow, "follows", 300},
    {"merged", kFollow, "follows", 300, true},
    {"posts", kPost, "posts", 300},
};

class BackfillWorkerPoison : public BackfillWorkerTest,
                             public testing::WithParamInterface<std::tuple<Way, Refusal>> {
 protected:
  const Way way_ = std::get<Way>(GetParam());
  const Refusal refusal_ = std::get<Refusal>(GetParam());

  void refuse_poison() {
    std::string sql = refusal_.sql;
    for (std::size_t at; (at = sql.find("bsky.TABLE")) != std::string::npos;) {
      sql.replace(at, 10, "bsky." + way_.table);
    }
    session().run(sql);
  }
  Chunk chunk(std::uint64_t repository, const std::set<std::size_t>& poison) const {
    return records(repository, did(repository), way_.records, 0, way_.collection,
                   [&](std::size_t i, nlohmann::json& record) {
                     if (poison.contains(i)) record["poison"] = "yes";
                   });
  }
  static std::string did(std::uint64_t repository) {
    return "did:plc:account" + std::to_string(repository);
  }
  std::string uri(std::uint64_t repository, std::size_t place) const {
    return "at://" + did(repository) + "/" + way_.collection + "/" + key(place);
  }
  std::string rows() { return count("bsky." + way_.table + " WHERE rev = 10 AND cid IS NOT NULL"); }
};

TEST_P(BackfillWorkerPoison, ends_as_a_dead_letter_and_all_others_as_rows) {
  refuse_poison();
  const std::size_t last = way_.records - 1;
  // Of each repository those records; they share transactions.
  const std::vector<std::set<std::size_t>> poison = {{},     {0},          {last},         {7},
                                                     {7, 8}, {0, 5, last}, {3, 4, 5, 6, 7}};
  open(database_.url());
  if (way_.has_rows) {
    for (std::size_t i = 0; i < poison.size(); ++i) {
      worker_->push(records(100 + i, did(i), 1, 1'000, way_.collection));
    }
    wait_for_chunks(poison.size());
  }
  const std::size_t before = way_.has_rows ? poison.size() : 0;
  std::size_t poisons = 0;
  std::set<std::string> letters;
  std::vector<Chunk> chunks;
  std::vector<std::size_t> bytes;
  for (std::size_t i = 0; i < poison.size(); ++i) {
    for (const std::size_t place : poison[i]) letters.insert(uri(i, place));
    chunks.push_back(chunk(i, poison[i]));
    bytes.push_back(chunks.back().bytes);
    poisons += poison[i].size();
  }
  for (Chunk& chunk : chunks) worker_->push(std::move(chunk));
  finish();

  EXPECT_EQ(fatal_error(), std::nullopt);
  const std::size_t all = poison.size() * way_.records;
  EXPECT_EQ(rows(), std::to_string(before + all - poisons));
  EXPECT_EQ(counters_.events, before + all);
  EXPECT_EQ(counters_.rows, before + all - poisons);
  EXPECT_EQ(counters_.dead_letters, poisons);
  EXPECT_EQ(counters_.retries, 0U);
  const postgres::Rows stored =
      session().run("SELECT key, error, sqlstate, length(payload) FROM skua.dead_letter");
  EXPECT_EQ(stored.size(), poisons);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::string letter(stored.text(i, 0));
    const bool known = std::any_of(letters.begin(), letters.end(), [&](const std::string& uri) {
      return letter.find(uri) != std::string::npos;
    });
    EXPECT_TRUE(known) << letter;
    EXPECT_NE(stored.text(i, 1).find(refusal_.words), std::string::npos) << stored.text(i, 1);
    EXPECT_EQ(stored.text(i, 2), refusal_.sqlstate);
    EXPECT_GT(stored.int4(i, 3), 0);
  }
  // Every chunk of every repository is told of, whole: so each repository finishes.
  ASSERT_EQ(written_.size(), before + poison.size());
  for (std::size_t i = 0; i < poison.size(); ++i) {
    const WrittenChunk& written = written_[before + i];
    EXPECT_EQ(written.repository, i);
    EXPECT_EQ(written.records, way_.records);
    EXPECT_EQ(written.bytes, bytes[i]);
  }
}

TEST_P(BackfillWorkerPoison, that_comes_again_adds_no_letter) {
  refuse_poison();
  open(database_.url());
  worker_->push(chunk(1, {2, 9}));
  wait_for_chunks(1);
  const std::string places =
      "SELECT string_agg(ctid::text || xmin, ' ' ORDER BY rkey) FROM bsky." + way_.table;
  const std::string before = value(places);
  worker_->push(chunk(1, {2, 9}));
  finish();
  EXPECT_EQ(value(places), before);
  EXPECT_EQ(count("skua.dead_letter"), "2");
  EXPECT_EQ(written_.size(), 2U);
  EXPECT_EQ(fatal_error(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Ways, BackfillWorkerPoison,
                         testing::Combine(testing::ValuesIn(kWays), testing::ValuesIn(kRefusals)),
                         [](const auto& test) {
                           return std::get<Way>(test.param).name + "_by_a_" +
                                  std::get<Refusal>(test.param).name;
                         });

/// A sequence counts what is rolled back, too.
TEST_F(BackfillWorkerTest, poison_does_not_have_the_whole_group_tried_again_and_again) {
  constexpr std::size_t kRecords = 2'000;
  session().run("CREATE SEQUENCE tried");
  session().run(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "PERFORM nextval('tried'); IF NEW.extra ->> 'poison' = 'yes' THEN "
      "RAISE EXCEPTION 'not this one' USING ERRCODE = '22000'; END IF; RETURN NEW; END $$");
  session().run(
      "CREATE TRIGGER refuse BEFORE INSERT ON bsky.follows FOR EACH ROW EXECUTE FUNCTION refuse()");
  open(database_.url());
  worker_->push(records(1, kAlice, kRecords, 0, kFollow, [](std::size_t i, nlohmann::json& record) {
    if (i % 250 == 249) record["poison"] = "yes";
  }));
  finish();
  EXPECT_EQ(count("bsky.follows"), std::to_string(kRecords - 8));
  EXPECT_EQ(count("skua.dead_letter"), "8");
  EXPECT_LT(std::stoul(value("SELECT last_value FROM tried")), 3 * kRecords);
}

// --- a server that fails

constexpr std::int64_t kGate = 4711;

/// Where a transaction waits until the test lets it go on.
struct Gate {
  std::string name;
  /// Makes it wait there for the lock kGate; the function `wait_at_gate` is there.
  std::string sql;
  bool poison = false;
};

const std::vector<Gate> kGates = {
    {"before_its_rows",
     "CREATE TRIGGER gate BEFORE INSERT ON bsky.follows EXECUTE FUNCTION wait_at_gate()"},
    {"after_its_rows",
     "CREATE TRIGGER gate AFTER INSERT ON bsky.follows EXECUTE FUNCTION wait_at_gate()"},
    {"at_a_dead_letter",
     "CREATE TRIGGER gate AFTER INSERT ON skua.dead_letter EXECUTE FUNCTION wait_at_gate()"},
    {"in_its_commit",
     "CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON bsky.follows DEFERRABLE INITIALLY DEFERRED "
     "FOR EACH ROW EXECUTE FUNCTION wait_at_gate()"},
    {"at_a_poison_s_dead_letter",
     "ALTER TABLE bsky.follows ADD CHECK (extra ->> 'poison' IS NULL); "
     "CREATE TRIGGER gate AFTER INSERT ON skua.dead_letter FOR EACH ROW WHEN (NEW.sqlstate <> '') "
     "EXECUTE FUNCTION wait_at_gate()",
     true},
};

class BackfillWorkerCut : public BackfillWorkerTest, public testing::WithParamInterface<Gate> {
 protected:
  /// The server's process that waits at the gate, which is not `other`; nothing when all was
  /// written without waiting.
  std::string waiter(const std::string& other) {
    std::string pid;
    while (pid.empty() && producer_.count == 0) {
      std::this_thread::yield();
      pid = value(
          "SELECT max(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = " +
          std::to_string(kGate) +
          " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
          " AND pid::text <> '" +
          other + "'");
    }
    return pid;
  }
};

TEST_P(BackfillWorkerCut, loses_and_doubles_nothing) {
  constexpr std::size_t kCuts = 3;
  constexpr std::size_t kRecords = 300;
  session().run(
      "CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "PERFORM pg_advisory_xact_lock(" +
      std::to_string(kGate) + "); RETURN NULL; END $$");
  session().run(GetParam().sql);
  session().run("SELECT pg_advisory_lock(" + std::to_string(kGate) + ")");
  open(database_.url());
  Chunk chunk = records(1, kAlice, kRecords, 0, kFollow, [](std::size_t i, nlohmann::json& record) {
    if (GetParam().poison && i == 100) record["poison"] = "yes";
  });
  add_rejection(chunk);
  worker_->push(std::move(chunk));

  std::string cut;
  for (std::size_t i = 0; i < kCuts; ++i) {
    cut = waiter(cut);
    ASSERT_NE(cut, "");
    value("SELECT pg_terminate_backend(" + cut + ")");
  }
  EXPECT_NE(waiter(cut), "");
  session().run("SELECT pg_advisory_unlock(" + std::to_string(kGate) + ")");
  finish();

  const std::size_t poisons = GetParam().poison ? 1 : 0;
  EXPECT_EQ(counters_.retries, kCuts);
  EXPECT_EQ(counters_.events, kRecords + 1);
  EXPECT_EQ(counters_.rows, kRecords - poisons);
  EXPECT_EQ(counters_.dead_letters, 1 + poisons);
  EXPECT_EQ(count("bsky.follows WHERE rev = 10"), std::to_string(kRecords - poisons));
  EXPECT_EQ(count("skua.dead_letter"), std::to_string(1 + poisons));
  EXPECT_EQ(value("SELECT count(*) || ' ' || count(DISTINCT did) FROM bsky.actors"), "2 2");
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].records, kRecords + 1);
  EXPECT_EQ(fatal_error(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Places, BackfillWorkerCut, testing::ValuesIn(kGates),
                         [](const auto& test) { return test.param.name; });

TEST_F(BackfillWorkerTest, a_full_lock_table_makes_transactions_smaller) {
  session().run(
      "CREATE FUNCTION be_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "IF (SELECT count(*) > 100 FROM rows) THEN "
      "RAISE EXCEPTION 'out of shared memory' USING ERRCODE = '53200'; END IF; RETURN NULL; END "
      "$$");
  session().run(
      "CREATE TRIGGER be_full AFTER INSERT ON bsky.follows REFERENCING NEW TABLE AS rows "
      "EXECUTE FUNCTION be_full()");
  open(database_.url());
  worker_->push(records(1, kAlice, 150));
  finish();
  EXPECT_EQ(sizes(), "75 75");
  EXPECT_EQ(counters_.retries, 1U);
  EXPECT_EQ(count("skua.dead_letter"), "0");
  EXPECT_EQ(written_.size(), 1U);
  EXPECT_EQ(fatal_error(), std::nullopt);
}

/// A stub that came meanwhile would make its COPY fail.
TEST_F(BackfillWorkerTest, its_posts_are_claimed_while_it_writes_them) {
  Chunk same = records(1, kAlice, 100, 0, kPost);
  ids::Resolver(session(), ids_, clock_).resolve(std::span(same.events));
  std::vector<ids::KnownPosts::Key> posts;
  for (const auto& event : same.events) posts.push_back({event.actor_id, event.rkey_number});

  const auto type = static_cast<std::uint8_t>(records::record_type_of(kPost));
  {
    postgres::Transaction holding(session());
    postgres::lock_xact(session(), {postgres::account_lock(session(), type, kAlice)});
    open(database_.url());
    worker_->push(records(1, kAlice, 100, 0, kPost));
    postgres::Session watching(database_.url(), "watching");
    while (!test::a_session_waits_for_a_lock(watching)) std::this_thread::yield();
    const ids::PostClaims::Held held(ids_.post_claims, posts);
    EXPECT_EQ(held.others().size(), posts.size());
  }
  finish();
  EXPECT_EQ(count("bsky.posts WHERE rev = 10"), "100");
  const ids::PostClaims::Held held(ids_.post_claims, posts);
  EXPECT_TRUE(held.others().empty());
  for (const auto& post : posts) EXPECT_TRUE(ids_.posts.contains(post));
}

/// One that is known to have a row and has none would never get its stub.
TEST_F(BackfillWorkerTest, posts_that_were_held_back_are_not_known) {
  const auto known = [&] {
    Chunk same = records(1, kAlice, 100, 0, kPost);
    ids::Resolver(session(), ids_, clock_).resolve(std::span(same.events));
    return std::count_if(same.events.begin(), same.events.end(), [&](const auto& event) {
      return ids_.posts.contains({event.actor_id, event.rkey_number});
    });
  };
  EXPECT_EQ(known(), 0);
  session().run("UPDATE bsky.actors SET floor_rev = 20");
  open(database_.url());
  worker_->push(records(1, kAlice, 100, 0, kPost));
  finish();
  EXPECT_EQ(count("bsky.posts"), "0");
  EXPECT_EQ(known(), 0);
}

/// They stand in bsky.records.
TEST_F(BackfillWorkerTest, posts_that_break_their_lexicon_are_not_known) {
  open(database_.url());
  worker_->push(records(1, kAlice, 100, 0, kPost, [](std::size_t i, nlohmann::json& record) {
    if (i % 2 == 0) record["text"] = 5;
  }));
  finish();
  Chunk same = records(1, kAlice, 100, 0, kPost);
  ids::Resolver(session(), ids_, clock_).resolve(std::span(same.events));
  for (std::size_t i = 0; i < same.events.size(); ++i) {
    EXPECT_EQ(ids_.posts.contains({same.events[i].actor_id, same.events[i].rkey_number}),
              i % 2 == 1);
  }
}

TEST_F(BackfillWorkerTest, what_cannot_be_written_is_not_told_of) {
  open("postgresql://127.0.0.1:1/nowhere");
  worker_->push(records(1, kAlice, 1));
  worker_->abandon();
  worker_->join();
  EXPECT_TRUE(written_.empty());
  EXPECT_EQ(counters_.events, 0U);
  EXPECT_EQ(fatal_error(), std::nullopt);
}

TEST_F(BackfillWorkerTest, a_wrong_statement_stops_loudly) {
  session().run("ALTER TABLE bsky.follows RENAME TO renamed");
  open(database_.url());
  worker_->push(records(1, kAlice, 100));
  finish();
  EXPECT_NE(fatal_error(), std::nullopt);
  EXPECT_TRUE(written_.empty());
}

// --- half a second

TEST_F(BackfillWorkerTest, transactions_shrink_after_slow_ones_and_grow_after_fast_ones) {
  const std::vector<std::size_t> slow = {2'500, 1'250, 625, 312, 250, 250};
  const std::vector<std::size_t> fast = {250, 312, 390, 487};
  const auto all_of = [](const std::vector<std::size_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  };
  open(database_.url());
  clock_.set_look(milliseconds(400));
  worker_->push(records(1, kAlice, all_of(slow)));
  wait_for_chunks(1);
  clock_.set_look(milliseconds(100));
  worker_->push(records(1, kAlice, all_of(fast), all_of(slow)));
  finish();
  EXPECT_EQ(sizes(), fmt::format("{} {}", fmt::join(slow, " "), fmt::join(fast, " ")));
  EXPECT_EQ(counters_.transactions, slow.size() + fast.size());
  EXPECT_EQ(fatal_error(), std::nullopt);
}

TEST_F(BackfillWorkerTest, transactions_do_not_grow_after_small_ones) {
  open(database_.url());
  for (std::size_t i = 0; i < 3; ++i) {
    worker_->push(records(1, kAlice, 1, i));
    wait_for_chunks(i + 1);
  }
  worker_->push(records(1, kAlice, BatchSize::kFirst + 1, 3));
  finish();
  EXPECT_EQ(sizes(), "1 1 1 2500 1");
  EXPECT_EQ(fatal_error(), std::nullopt);
}

/// The other worker has the only permit while this one waits: it returned it.
TEST_F(BackfillWorkerTest, waits_between_transactions_while_live_lanes_are_deep) {
  const std::size_t deep = 20;
  bool first = true;
  clock_.on_look = [&] {
    if (std::exchange(first, false)) pressure_.add(deep);
  };
  open(database_.url());
  worker_->push(records(1, kAlice, 2 * BatchSize::kFirst));
  while (counters_.transactions == 0) std::this_thread::yield();

  LiveBackpressure none{1};
  TestProducer producer;
  const Counters& counters = producer.counted;
  const auto others = services(database_.url(), none, producer);
  const auto other = worker(*others);
  for (std::size_t i = 0; i < 5; ++i) {
    other->push(records(2, kBob, BatchSize::kFirst, i * BatchSize::kFirst));
  }
  other->finish();
  other->join();
  EXPECT_EQ(counters.rows, 5 * BatchSize::kFirst);

  EXPECT_EQ(counters_.transactions, 1U);
  EXPECT_EQ(counters_.rows, BatchSize::kFirst);
  pressure_.remove(deep);
  finish();
  EXPECT_EQ(counters_.transactions, 2U);
  EXPECT_EQ(counters_.rows, 2 * BatchSize::kFirst);
  EXPECT_EQ(fatal_error(), std::nullopt);
}

TEST_F(BackfillWorkerTest, does_not_begin_while_live_lanes_are_deep_and_ends_when_told_to) {
  pressure_.add(20);
  open(database_.url());
  worker_->push(records(1, kAlice, 100));
  worker_->abandon();
  worker_->join();
  EXPECT_EQ(count("bsky.follows"), "0");
  EXPECT_TRUE(written_.empty());
  EXPECT_EQ(fatal_error(), std::nullopt);
}

}  // namespace
}  // namespace skua::writer::backfill_worker_test
