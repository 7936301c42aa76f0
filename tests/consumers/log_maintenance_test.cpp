#include "consumers/log_maintenance.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "support/postgres.hpp"
#include "tables/change_log.hpp"

namespace skua::consumers::log_maintenance_test {
namespace {

constexpr std::int64_t kWidth = std::int64_t{1} << 24;

class LogMaintenanceTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  /// A block of one change in a partition, which was appended so long ago.
  void append_in(std::int64_t partition, const std::string& age) {
    session().run("SELECT skua.make_change_log_partition(" + std::to_string(partition) + ")");
    tables::append_changes(
        session(), {.changes = {{.actor_id = 1, .cid = atproto::Digest{}}}, .references = {}});
    session().run("UPDATE skua.change_log SET pos = " + std::to_string(partition * kWidth + 5) +
                  ", at = now() - interval '" + age +
                  "' WHERE pos = (SELECT max(pos) FROM skua.change_log); "
                  "UPDATE skua.change_log_state SET partition = " +
                  std::to_string(partition));
  }
  std::string partitions() {
    return value(
        "SELECT string_agg(substring(c.relname FROM '[0-9]+'), ' ' ORDER BY "
        "substring(c.relname FROM '[0-9]+')::int8) FROM pg_inherits AS i "
        "JOIN pg_class AS c ON c.oid = i.inhrelid "
        "WHERE i.inhparent = 'skua.change_log'::regclass");
  }

  LogMetrics metrics_;
};

TEST_F(LogMaintenanceTest, the_next_two_partitions_exist) {
  maintain_change_log(session(), metrics_);
  EXPECT_EQ(partitions(), "0 1 2");
  append_in(2, "1 hour");
  maintain_change_log(session(), metrics_);
  EXPECT_EQ(partitions(), "2 3 4") << "the first two are empty";
  EXPECT_EQ(metrics_.dropped, 2U);
  EXPECT_EQ(metrics_.changes, 2 * kWidth + 5);
}

TEST_F(LogMaintenanceTest, partitions_older_than_the_retention_are_dropped) {
  append_in(0, "4 days");
  append_in(1, "73 hours");
  append_in(2, "71 hours");
  append_in(3, "1 hour");
  maintain_change_log(session(), metrics_);
  EXPECT_EQ(partitions(), "2 3 4 5");
  session().run("UPDATE skua.change_log_state SET retention = '2 hours'");
  maintain_change_log(session(), metrics_);
  EXPECT_EQ(partitions(), "3 4 5");
  EXPECT_EQ(metrics_.dropped, 3U);
}

TEST_F(LogMaintenanceTest, the_newest_change_stays_so_that_positions_go_on) {
  append_in(0, "100 days");
  append_in(1, "99 days");
  session().run("UPDATE skua.change_log_state SET max_bytes = 1");
  maintain_change_log(session(), metrics_);
  EXPECT_EQ(partitions(), "1 2 3");
  EXPECT_EQ(value("SELECT skua.change_log_end()"), std::to_string(kWidth + 6));
}

TEST_F(LogMaintenanceTest, the_oldest_partitions_go_when_the_log_is_too_large) {
  for (int i = 0; i < 4; ++i) append_in(i, "1 minute");
  maintain_change_log(session(), metrics_);
  EXPECT_EQ(partitions(), "0 1 2 3 4 5");
  const auto bytes = static_cast<std::uint64_t>(metrics_.bytes);
  // Room for all but one of the partitions with a block.
  session().run("UPDATE skua.change_log_state SET max_bytes = " + std::to_string(bytes - 1));
  maintain_change_log(session(), metrics_);
  EXPECT_EQ(partitions(), "1 2 3 4 5");
  EXPECT_LT(metrics_.bytes, bytes);
}

TEST_F(LogMaintenanceTest, a_reader_is_not_waited_for) {
  append_in(0, "4 days");
  append_in(1, "1 hour");
  postgres::Session reader(database_.url(), "reader");
  {
    postgres::Transaction reading(reader);
    reader.run("SELECT count(*) FROM skua.change_log");
    maintain_change_log(session(), metrics_);
    EXPECT_EQ(partitions(), "0 1 2 3");
  }
  maintain_change_log(session(), metrics_);
  EXPECT_EQ(partitions(), "1 2 3");
}

TEST_F(LogMaintenanceTest, its_thread_deletes_letters_that_were_finished_long_ago) {
  session().run(
      "INSERT INTO skua.dead_letter (consumer, key, error, status, finished_at) VALUES "
      "('indexer', 'old', 'e', 'resolved', now() - interval '31 days'), "
      "('indexer', 'new', 'e', 'discarded', now() - interval '29 days'), "
      "('indexer', 'dead', 'e', 'dead', NULL)");
  postgres::Runtime runtime(database_.url(), system_clock());
  LogMaintenance maintenance(runtime);
  maintenance.start();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (value("SELECT count(*) FROM skua.dead_letter") != "2" &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  maintenance.stop();
  EXPECT_EQ(value("SELECT string_agg(key, ' ' ORDER BY key) FROM skua.dead_letter"), "dead new");
}

}  // namespace
}  // namespace skua::consumers::log_maintenance_test
