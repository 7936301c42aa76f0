#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.hpp"
#include "consumers/log_maintenance.hpp"
#include "consumers/messages/message_inbox.hpp"
#include "consumers/messages/message_sequencer.hpp"
#include "postgres/runtime.hpp"
#include "postgres/session.hpp"
#include "postgres/sql_error.hpp"
#include "support/postgres.hpp"
#include "tables/change_log.hpp"

namespace skua::consumers::messages_test {
namespace {

using testing::HasSubstr;

std::string enqueue_sql(const std::string& key, const std::string& payload = "{}",
                        const std::string& topic = "orders") {
  return fmt::format("SELECT skua.enqueue('{}', '{}', '{}')", topic, key, payload);
}

void enqueue(postgres::Session& session, const std::string& key, const std::string& payload = "{}",
             const std::string& topic = "orders") {
  session.run(enqueue_sql(key, payload, topic));
}

/// The SQLSTATE with which a statement fails; empty if it succeeds.
std::string failure(postgres::Session& session, const std::string& sql) {
  try {
    session.run(sql);
    return {};
  } catch (const postgres::SqlError& error) {
    return std::string(error.sqlstate());
  }
}

void append_change(postgres::Session& session) {
  postgres::Transaction transaction(session);
  if (!tables::is_logging_changes(session)) throw std::runtime_error("nothing is logged");
  tables::append_changes(
      session, {.changes = {{.actor_id = 1, .cid = atproto::Digest{}}}, .references = {}});
  transaction.commit();
}

class MessagesTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::unique_ptr<postgres::Session> connect(const std::string& name = "producer") {
    return std::make_unique<postgres::Session>(database_.url(), name);
  }
  std::int64_t drain() {
    std::int64_t moved = 0;
    while (const std::int64_t batch = mover_.move(session())) moved += batch;
    return moved;
  }
  /// The keys of the messages in the log, in its order.
  std::string logged() {
    return value("SELECT coalesce(string_agg(key, ' ' ORDER BY pos), '') FROM skua.messages");
  }

  MessageMover mover_;
};

TEST_F(MessagesTest, a_message_becomes_a_change_with_its_content) {
  const std::string id = value(
      "SELECT skua.enqueue('orders.new', 'order 7', '{\"total\": 12.50}', '{\"trace\": \"a\"}')");
  EXPECT_EQ(value("SELECT skua.change_log_end()"), "1") << "it is in the inbox";
  EXPECT_EQ(drain(), 1);
  EXPECT_EQ(value("SELECT count(*) FROM skua.message_inbox"), "0");
  EXPECT_EQ(value("SELECT concat_ws(',', pos, kind, op, actor_id = "
                  "skua.message_key_number('orders.new', 'order 7'), collection_id, rkey, rev, "
                  "cid, val) FROM skua.changes(1)"),
            "1,message,create,t,0," + id + ",0,orders.new");
  EXPECT_EQ(value("SELECT concat_ws(',', pos, id, topic, key, payload, headers, bytes, "
                  "enqueued_at <= (SELECT at FROM skua.change_log)) FROM skua.messages"),
            "1," + id + ",orders.new,order 7,{\"total\": 12.50},{\"trace\": \"a\"},47,t");
  EXPECT_EQ(drain(), 0);
}

TEST_F(MessagesTest, numbers_of_keys_are_negative_and_lanes_are_those_of_accounts) {
  EXPECT_EQ(
      value("SELECT count(*) FROM (SELECT skua.message_key_number('a', n::text) AS k FROM "
            "generate_series(1, 1000) AS n) AS t WHERE k >= 0 OR k & 63 NOT BETWEEN 0 AND 63"),
      "0");
  EXPECT_EQ(value("SELECT count(DISTINCT skua.message_key_number('a', n::text) & 7) FROM "
                  "generate_series(1, 1000) AS n"),
            "8");
  EXPECT_NE(value("SELECT skua.message_key_number('a', 'b')"),
            value("SELECT skua.message_key_number('b', 'a')"));
}

TEST_F(MessagesTest, a_wrong_message_is_an_error_of_its_transaction) {
  const std::string long_key(513, 'k');
  const std::pair<std::string, std::string> cases[] = {
      {"NULL, 'k', '{}'", "22004"},         {"'t', NULL, '{}'", "22004"},
      {"'t', 'k', NULL", "22004"},          {"'t', 'k', '{}', NULL", "22004"},
      {"'', 'k', '{}'", "22023"},           {"'Orders', 'k', '{}'", "22023"},
      {"'1orders', 'k', '{}'", "22023"},    {"'orders new', 'k', '{}'", "22023"},
      {"E'orders\\n', 'k', '{}'", "22023"}, {"'" + std::string(101, 't') + "', 'k', '{}'", "22023"},
      {"'t', '', '{}'", "22023"},           {"'t', '" + long_key + "', '{}'", "22023"},
      {"'t', 'k', '{}', '[]'", "22023"},    {"'t', 'k', to_jsonb(repeat('x', 70000))", "54000"},
  };
  for (const auto& [arguments, state] : cases) {
    EXPECT_EQ(failure(session(), "SELECT skua.enqueue(" + arguments + ")"), state) << arguments;
  }
  for (const char* arguments :
       {"'a', 'k', 'null'", "'a_b.c-9', '\xC3\xBC', '[1]'", "'t', 'k', '\"text\"', '{\"a\": 1}'"}) {
    EXPECT_EQ(failure(session(), fmt::format("SELECT skua.enqueue({})", arguments)), "")
        << arguments;
  }
  EXPECT_EQ(drain(), 3);
}

TEST_F(MessagesTest, an_error_says_what_to_do) {
  session().run("UPDATE skua.message_limits SET inbox_messages = 2");
  enqueue(session(), "a");
  enqueue(session(), "b");
  try {
    enqueue(session(), "c");
    // The sequence of a new inbox has the value 1 before its first number.
    enqueue(session(), "d");
    FAIL() << "the inbox has no limit";
  } catch (const postgres::SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "53400");
    EXPECT_THAT(error.what(), HasSubstr("the inbox is full"));
  }
  EXPECT_GE(drain(), 2);
  EXPECT_EQ(failure(session(), enqueue_sql("c")), "") << "the inbox was drained";
}

TEST_F(MessagesTest, numbers_of_rolled_back_messages_do_not_fill_the_inbox) {
  session().run("UPDATE skua.message_limits SET inbox_messages = 5");
  for (int i = 0; i < 20; ++i) {
    session().run("BEGIN");
    EXPECT_EQ(failure(session(), enqueue_sql("a")), "") << i;
    session().run("ROLLBACK");
    EXPECT_EQ(drain(), 0);
  }
}

TEST_F(MessagesTest, the_messages_of_a_transaction_are_limited) {
  session().run("UPDATE skua.message_limits SET transaction_messages = 3");
  session().run("BEGIN");
  for (const char* key : {"a", "b", "c"}) enqueue(session(), key);
  EXPECT_EQ(failure(session(), enqueue_sql("d")), "54000");
  session().run("ROLLBACK");
  session().run("BEGIN");
  enqueue(session(), "a");
  session().run("SAVEPOINT s");
  enqueue(session(), "b");
  enqueue(session(), "c");
  session().run("ROLLBACK TO s");
  enqueue(session(), "d");
  enqueue(session(), "e");
  session().run("COMMIT");
  enqueue(session(), "f");
  EXPECT_EQ(failure(session(),
                    "SELECT skua.enqueue('t', n::text, '{}') FROM "
                    "generate_series(1, 4) AS n"),
            "54000");
  drain();
  EXPECT_EQ(logged(), "a d e f");
}

TEST_F(MessagesTest, a_rollback_leaves_nothing) {
  enqueue(session(), "a");
  session().run("BEGIN");
  enqueue(session(), "b");
  session().run("ROLLBACK");
  enqueue(session(), "c");
  EXPECT_EQ(drain(), 2);
  EXPECT_EQ(logged(), "a c");
}

TEST_F(MessagesTest, an_open_transaction_delays_its_key_only) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(drain(), 0);
  const auto open = connect();
  open->run("BEGIN");
  enqueue(*open, "held", "1");
  enqueue(session(), "a");
  EXPECT_EQ(drain(), 1);
  append_change(session());
  session().run("SET lock_timeout = '50ms'");
  EXPECT_EQ(failure(session(), enqueue_sql("held", "2")), "55P03");
  session().run("SET lock_timeout = '10s'");
  // The search begins behind messages that are moved, but not behind those of open transactions.
  for (int i = 0; i < 10; ++i) {
    enqueue(session(), "b");
    EXPECT_EQ(drain(), 1);
    EXPECT_EQ(drain(), 0);
  }
  open->run("COMMIT");
  enqueue(session(), "held", "2");
  EXPECT_EQ(drain(), 2);
  EXPECT_EQ(value("SELECT string_agg(payload::text, ' ' ORDER BY pos) FROM skua.messages WHERE "
                  "key = 'held'"),
            "1 2");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(drain(), 0);
  enqueue(session(), "c");
  EXPECT_EQ(drain(), 1);
}

TEST_F(MessagesTest, one_session_moves_messages_at_a_time) {
  const auto other = connect("mover");
  enqueue(session(), "a");
  other->run("BEGIN");
  EXPECT_EQ(other->run("SELECT skua.sequence_messages(0, 10, 1000)").int4(0, 0), 1);
  enqueue(session(), "b");
  EXPECT_EQ(drain(), 0);
  other->run("ROLLBACK");
  EXPECT_EQ(drain(), 2);
  EXPECT_EQ(logged(), "a b");
}

TEST_F(MessagesTest, a_batch_has_a_limit_of_messages_and_of_bytes) {
  for (int i = 0; i < 5; ++i) enqueue(session(), "k", std::to_string(i));
  const auto move = [&](int messages, int bytes) {
    return session()
        .run(fmt::format("SELECT skua.sequence_messages(0, {}, {})", messages, bytes))
        .int4(0, 0);
  };
  EXPECT_EQ(move(2, 1000), 2);
  EXPECT_EQ(move(9, 1), 1) << "a larger message is alone";
  EXPECT_EQ(move(9, 1000), 2);
  EXPECT_EQ(move(9, 1000), 0);
  EXPECT_EQ(value("SELECT string_agg(payload::text, ' ' ORDER BY pos) FROM skua.messages"),
            "0 1 2 3 4");
}

TEST_F(MessagesTest, messages_wait_for_the_end_of_a_bootstrap) {
  session().run(
      "INSERT INTO skua.dropped_indexes (name, relation, definition) "
      "VALUES ('i', 't', 'd')");
  enqueue(session(), "a");
  EXPECT_EQ(drain(), 0);
  InboxState inbox = read_inbox(session());
  EXPECT_EQ(inbox.waiting, 1);
  EXPECT_TRUE(inbox.waits_for_bootstrap);
  inbox.oldest = std::chrono::hours(1);
  EXPECT_FALSE(is_undrained(inbox)) << "the bootstrap is a problem of its own";
  session().run("DELETE FROM skua.dropped_indexes");
  EXPECT_EQ(drain(), 1);
}

TEST_F(MessagesTest, messages_that_nobody_moves_are_a_problem) {
  EXPECT_EQ(inbox_text(read_inbox(session())), "no message waits");
  enqueue(session(), "a");
  EXPECT_FALSE(is_undrained(read_inbox(session())));
  session().run("UPDATE skua.message_inbox SET enqueued_at = now() - interval '61 seconds'");
  const InboxState inbox = read_inbox(session());
  EXPECT_TRUE(is_undrained(inbox));
  EXPECT_THAT(inbox_text(inbox), HasSubstr("1 message in the inbox, the oldest for 61 s"));
}

TEST_F(MessagesTest, messages_stay_as_long_as_their_changes) {
  enqueue(session(), "a");
  drain();
  // The end of the log lies before a partition that does not exist.
  session().run(
      "UPDATE skua.change_log SET pos = 33554430; "
      "UPDATE skua.change_log_state SET partition = 1");
  for (const char* key : {"b", "c", "d"}) enqueue(session(), key);
  EXPECT_EQ(drain(), 3);
  EXPECT_EQ(value("SELECT string_agg(pos::text, ' ' ORDER BY pos) FROM skua.messages"),
            "1 33554431 33554432 33554433");
  EXPECT_EQ(value("SELECT count(*) FROM skua.messages_2"), "2");
  session().run("SELECT skua.drop_change_log_partition(0)");
  EXPECT_EQ(logged(), "b c d");
  append_change(session());
  LogMetrics metrics;
  maintain_change_log(session(), metrics);
  EXPECT_EQ(value("SELECT to_regclass('skua.messages_4') IS NOT NULL"), "t");
}

TEST_F(MessagesTest, the_size_of_the_log_includes_messages) {
  const std::int64_t before = read_log_size(session()).bytes;
  session().run(
      "SELECT skua.enqueue('t', n::text, to_jsonb(repeat(md5(n::text), 1000))) FROM "
      "generate_series(1, 50) AS n");
  drain();
  EXPECT_GT(read_log_size(session()).bytes, before + 50'000);
}

TEST_F(MessagesTest, a_producer_may_only_enqueue) {
  session().run(
      "CREATE TABLE public.orders (id int4); GRANT INSERT ON public.orders TO "
      "skua_producer; SET ROLE skua_producer");
  session().run("BEGIN");
  session().run("INSERT INTO public.orders VALUES (1)");
  enqueue(session(), "a");
  session().run("COMMIT");
  const postgres::Rows tables = session().run(
      "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relnamespace IN "
      "('skua'::regnamespace, 'bsky'::regnamespace) AND c.relkind IN ('r', 'p', 'v', 'S') AND "
      "has_table_privilege(c.oid, 'SELECT')");
  EXPECT_TRUE(tables.empty()) << tables.text(0, 0);
  for (const char* sql :
       {"SELECT skua.sequence_messages(0, 1, 1)", "SELECT skua.is_logging_changes()",
        "INSERT INTO skua.message_inbox (key_number, bytes, topic, key, payload, headers) VALUES "
        "(1, 1, 't', 'k', '{}', '{}')",
        "UPDATE skua.message_limits SET inbox_messages = 1",
        "SELECT setval('skua.message_moved', 1000)", "SELECT skua.grant_producer()"}) {
    EXPECT_EQ(failure(session(), sql), "42501") << sql;
  }
  session().run("SET ROLE skua_reader");
  EXPECT_EQ(failure(session(), enqueue_sql("b")), "42501");
  EXPECT_EQ(value("SELECT count(*) FROM skua.message_inbox"), "1");
  session().run("SET ROLE skua_writer");
  EXPECT_EQ(drain(), 1);
  session().run("RESET ROLE");
}

TEST_F(MessagesTest, the_thread_moves_messages) {
  postgres::Runtime runtime(database_.url(), system_clock());
  MessageSequencer sequencer(runtime, {.busy_pause = std::chrono::milliseconds(1),
                                       .idle_pause = std::chrono::milliseconds(2)});
  sequencer.start();
  for (int i = 0; i < 3; ++i) {
    enqueue(session(), std::to_string(i));
    while (value("SELECT count(*) FROM skua.messages") != std::to_string(i + 1)) {
      std::this_thread::yield();
    }
  }
  sequencer.stop();
  EXPECT_EQ(sequencer.metrics().moved, 3U);
  EXPECT_EQ(sequencer.metrics().failures, 0U);
}

/// Eight producers commit, roll back and are killed, while two movers are killed, too. Each key has
/// a counter in a table of the user, which a producer increases after the call of skua.enqueue. So
/// the counter has the order of the commits of the key if the call makes others wait.
class ProducersTest : public MessagesTest {
 protected:
  static constexpr int kProducers = 8;
  static constexpr int kTransactions = 60;
  static constexpr int kKeys = 5;

  void produce(unsigned seed) {
    std::mt19937 random(seed);
    auto producer = connect();
    for (int i = 0; i < kTransactions; ++i) {
      producer->run("BEGIN");
      // Transactions that enqueue several keys in different orders would wait for each other.
      std::set<int> keys;
      for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
        keys.insert(static_cast<int>(random() % kKeys));
      }
      for (const int key : keys) {
        const std::string id = std::string(
            producer->run(fmt::format("SELECT skua.enqueue('orders', '{}', '{}')::text", key, i))
                .text(0, 0));
        const std::string count =
            std::string(producer
                            ->run(fmt::format("UPDATE public.counts SET n = n + 1 WHERE key = '{}' "
                                              "RETURNING n::text",
                                              key))
                            .text(0, 0));
        producer->run(fmt::format("INSERT INTO public.sent VALUES ({}, '{}', {})", id, key, count));
      }
      const auto end = random() % 10;
      if (end < 6) {
        producer->run("COMMIT");
      } else if (end < 9) {
        producer->run("ROLLBACK");
      } else {
        EXPECT_THROW(producer->run("SELECT pg_terminate_backend(pg_backend_pid())"),
                     postgres::SqlError);
        producer = connect();
      }
      if (i % 20 == 10) {
        producer->run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            "current_database() AND application_name = 'mover'");
      }
    }
  }

  void move_messages(const std::stop_token& stop) {
    postgres::LazySession session(database_.url(), "mover");
    MessageMover mover;
    while (!stop.stop_requested()) {
      try {
        mover.move(session.get());
      } catch (const postgres::SqlError&) {
        // The session was killed, maybe while it connected.
        session.reset();
        mover = MessageMover();
      }
    }
  }
};

TEST_F(ProducersTest, each_committed_message_is_logged_once_in_the_order_of_its_key) {
  session().run(
      fmt::format("CREATE TABLE public.sent (id int8, key text, n int4); "
                  "CREATE TABLE public.counts (key text PRIMARY KEY, n int4 NOT NULL); "
                  "INSERT INTO public.counts SELECT k::text, 0 FROM generate_series(0, {}) AS k",
                  kKeys - 1));
  // This transaction is open until all others have ended.
  const auto open = connect();
  open->run("BEGIN");
  enqueue(*open, "held");
  std::atomic<int> appended = 0;
  {
    std::vector<std::jthread> movers;
    for (int i = 0; i < 2; ++i) {
      movers.emplace_back([&](const std::stop_token& stop) { move_messages(stop); });
    }
    std::jthread indexer([&](const std::stop_token& stop) {
      const auto writer = connect("indexer");
      while (!stop.stop_requested()) {
        append_change(*writer);
        ++appended;
      }
    });
    std::vector<std::jthread> producers;
    for (unsigned i = 0; i < kProducers; ++i) {
      producers.emplace_back([&, i] { produce(i + 1); });
    }
    for (std::jthread& producer : producers) producer.join();
  }
  EXPECT_GT(appended, 10);
  drain();
  const std::string sent = value("SELECT count(*) FROM public.sent");
  EXPECT_GT(std::stoi(sent), kProducers * kTransactions / 2);
  EXPECT_EQ(value("SELECT count(*) FROM skua.messages"), sent);
  EXPECT_EQ(value("SELECT count(DISTINCT id) FROM skua.messages JOIN public.sent USING (id, key)"),
            sent);
  EXPECT_EQ(value("SELECT count(*) FROM (SELECT s.n, row_number() OVER (PARTITION BY m.key ORDER "
                  "BY m.pos) AS place FROM skua.messages AS m JOIN public.sent AS s USING (id)) AS "
                  "t WHERE n <> place"),
            "0");
  EXPECT_EQ(
      value("SELECT count(*) FROM skua.changes(1, 1000000) AS c WHERE c.kind = 'message' AND "
            "NOT EXISTS (SELECT FROM skua.messages AS m WHERE m.pos = c.pos AND m.id = c.rkey "
            "AND m.key_number = c.actor_id AND m.topic = c.val)"),
      "0");
  open->run("COMMIT");
  EXPECT_EQ(drain(), 1);
}

}  // namespace
}  // namespace skua::consumers::messages_test
