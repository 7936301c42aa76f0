#include "consumers/log_maintenance.hpp"

#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "base/log.hpp"
#include "consumers/log_maintenance.sql.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/sql_error.hpp"
#include "tables/dead_letters.hpp"

namespace skua::consumers {
namespace {

/// Limits the time for which appending transactions wait behind a drop that waits for a reader.
constexpr std::chrono::milliseconds kDropPatience{500};
constexpr std::int64_t kPartitionsAhead = 2;
constexpr std::chrono::minutes kInterval{1};

struct Partition {
  std::int64_t number = 0;
  std::int64_t bytes = 0;
};

struct LogState {
  std::int64_t newest_change;
  std::int64_t newest_partition;
  std::int64_t max_bytes;
};

/// Returns whether a partition can be dropped: its newest block is older than the retention, and no
/// consumer has to read the partition. An empty partition behind the end of the log counts as old.
bool is_expired(postgres::Session& session, std::int64_t number) {
  return session
      .run(fmt::format(
          "SELECT coalesce((SELECT at FROM skua.change_log_{} ORDER BY pos DESC "
          "LIMIT 1) < clock_timestamp() - retention, true) "
          "AND NOT EXISTS (SELECT 1 FROM skua.consumers AS c JOIN skua.consumer_lanes "
          "AS l ON l.consumer_id = c.id WHERE c.role <> 'retired' AND c.state <> "
          "'lagged out' AND l.pos < {}) AND NOT EXISTS (SELECT 1 FROM skua.waiting_changes AS w "
          "WHERE w.pos < {}) FROM skua.change_log_state",
          number, (number + 1) << 24, (number + 1) << 24))
      .boolean(0, 0);
}

/// Returns false if a reader uses the partition.
bool drop(postgres::Session& session, std::int64_t number) {
  session.limit_lock_waits(kDropPatience);
  bool dropped = false;
  try {
    session.execute(sql::feed_drop_partition, number);
    dropped = true;
  } catch (const postgres::ServerError& error) {
    if (error.sqlstate() != postgres::kLockNotAvailable) throw;
  }
  session.limit_lock_waits(postgres::kLockPatience);
  return dropped;
}

}  // namespace

void maintain_change_log(postgres::Session& session, LogMetrics& metrics) {
  const auto [newest_change, newest, max_bytes] = session.query_one<LogState>(sql::feed_log_end);
  for (std::int64_t number = newest; number <= newest + kPartitionsAhead; ++number) {
    session.execute(sql::feed_make_partition, number);
  }

  std::int64_t bytes = 0;
  const std::vector<Partition> partitions = session.query<Partition>(sql::feed_partitions);
  for (const Partition& partition : partitions) bytes += partition.bytes;
  for (const Partition& partition : partitions) {
    if (partition.number >= newest) break;
    // Positions have the order of time, so the search ends at the first partition that is kept.
    const bool too_large = bytes > max_bytes;
    if (!too_large && !is_expired(session, partition.number)) break;
    if (!drop(session, partition.number)) break;
    bytes -= partition.bytes;
    metrics.dropped += 1;
    logger("feed")->info("changes up to position {} were dropped: {}",
                         ((partition.number + 1) << 24) - 1,
                         too_large ? "the change log is larger than skua.change_log_state.max_bytes"
                                   : "they are older than skua.change_log_state.retention");
  }
  metrics.changes = static_cast<std::uint64_t>(newest_change);
  metrics.bytes = static_cast<std::uint64_t>(bytes);
}

LogSize read_log_size(postgres::Session& session) {
  LogSize size;
  size.max_bytes = session.run("SELECT max_bytes FROM skua.change_log_state").int8(0, 0);
  for (const Partition& partition : session.query<Partition>(sql::feed_partitions))
    size.bytes += partition.bytes;
  return size;
}

LogMaintenance::LogMaintenance(postgres::Runtime& runtime)
    : thread_(runtime,
              {.session_name = postgres::process_name("skua change log"),
               .component = "feed",
               .failure = "the change log is not maintained",
               .retries_sql_errors = true},
              [this](postgres::LazySession& session, const std::stop_token& /*stop*/) {
                maintain_change_log(session.get(), metrics_);
                tables::purge_finished_letters(session.get());
                return kInterval;
              }) {}

}  // namespace skua::consumers
