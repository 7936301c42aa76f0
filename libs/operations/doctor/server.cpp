#include "doctor/server.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sys/statvfs.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "doctor/server.sql.hpp"
#include "postgres/server_clock.hpp"

namespace skua::doctor {

namespace {

constexpr std::int64_t kMiB = 1024 * 1024;
/// A smaller value of shared_buffers gives advice. The default is 128 MiB; docs/install.md
/// recommends a quarter of the memory.
constexpr std::int64_t kLittleSharedBuffers = 512 * kMiB;
/// A smaller value of max_wal_size gives advice, because then checkpoints follow each other while
/// much is written. The default is 1 GiB.
constexpr std::int64_t kLittleWal = 4096 * kMiB;
/// A higher value of random_page_cost gives advice. The default is 4, which suits rotating disks.
constexpr double kHighPageCost = 2;
/// A reader that restarts keeps less WAL than this.
constexpr std::int64_t kMuchWal = 1024 * kMiB;
/// Even an active reader that keeps this much WAL lags.
constexpr std::int64_t kVeryMuchWal = 16 * 1024 * kMiB;

using std::chrono::microseconds;

/// This difference is the tolerance for commits from the future (docs/architecture.md).
constexpr std::chrono::minutes kWrongClock{5};

/// The median ignores one wrong host if most others agree.
microseconds median(std::vector<microseconds> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void judge_clock(Findings& findings, microseconds ahead, const std::string& whose) {
  const auto difference = postgres::clock_difference_text(ahead);
  if (!difference) return;
  const std::string detail = fmt::format("the clock of this machine is {} {}", *difference, whose);
  findings.push_back(std::chrono::abs(ahead) < kWrongClock
                         ? warning("clocks", problem("clock-wrong"), detail)
                         : error("clocks", problem("clock-wrong"), detail));
}

/// This space holds an hour of events of the whole network, and a checkpoint.
constexpr std::int64_t kTooLittleSpace = 1'000'000'000;
/// This space holds some days of events of the whole network.
constexpr std::int64_t kLittleSpace = 10'000'000'000;
constexpr double kLittleShare = 0.05;

struct ServerDisk {
  std::int64_t database;
  /// The path; nothing if the role may not see it.
  std::optional<std::string> data_directory;
  bool is_local;
};

std::optional<DiskState::Space> space_of(const std::string& folder) {
  struct ::statvfs found {};
  if (::statvfs(folder.c_str(), &found) != 0) return std::nullopt;
  const auto block = static_cast<std::int64_t>(found.f_frsize);
  return DiskState::Space{static_cast<std::int64_t>(found.f_bavail) * block,
                          static_cast<std::int64_t>(found.f_blocks) * block};
}

}  // namespace

Findings judge_server(const postgres::ServerFacts& facts, const postgres::ServerNeeds& needs) {
  Findings findings;
  for (const auto& [problem, text] : postgres::server_problems(facts, needs)) {
    findings.push_back(error("server", *problem, text));
  }
  if (!findings.empty()) return findings;
  const bool is_safe = facts.fsync && facts.full_page_writes;
  return {ok("server", fmt::format("PostgreSQL {}.{}, {}, {} connections, {} locks a transaction{}",
                                   facts.version / 10000, facts.version % 10000, facts.encoding,
                                   facts.max_connections, facts.max_locks_per_transaction,
                                   is_safe ? "" : ", a crash may lose data (allowed)"))};
}

Finding judge_pooling(const std::optional<std::string>& pooling) {
  if (!pooling) return ok("connection", "no pooler in transaction mode");
  return error("connection", problem("connection-pooler"), *pooling);
}

ServerSettings read_server_settings(postgres::Session& session) {
  return session.query_one<ServerSettings>(sql::doctor_server_settings);
}

Finding judge_server_settings(const ServerSettings& settings) {
  std::vector<std::string> better;
  if (settings.shared_buffers < kLittleSharedBuffers) {
    better.push_back(fmt::format("shared_buffers is {} MB: a quarter of the memory, 4 GB at most",
                                 settings.shared_buffers / kMiB));
  }
  if (settings.max_wal_size < kLittleWal) {
    better.push_back(fmt::format("max_wal_size is {} MB: 8 GB", settings.max_wal_size / kMiB));
  }
  if (settings.random_page_cost > kHighPageCost) {
    better.push_back(fmt::format("random_page_cost is {}: 1.1 for solid state disks",
                                 settings.random_page_cost));
  }
  if (settings.jit) better.emplace_back("jit is on: off");
  if (better.empty()) return ok("settings", "as docs/install.md recommends");
  return advice("settings", problem("server-settings"),
                fmt::format("better values: {}", fmt::join(better, "; ")));
}

std::optional<std::vector<ReplicationSlot>> read_replication_slots(postgres::Session& session) {
  if (session.query_one<bool>(sql::doctor_is_standby)) return std::nullopt;
  return session.query<ReplicationSlot>(sql::doctor_replication_slots);
}

Findings judge_replication_slots(const std::optional<std::vector<ReplicationSlot>>& slots) {
  if (!slots) {
    return {skipped("replication", "a standby does not state the WAL that its slots keep",
                    "Run `skua doctor` with the primary.")};
  }
  Findings findings;
  for (const ReplicationSlot& slot : *slots) {
    if (slot.bytes < (slot.is_active ? kVeryMuchWal : kMuchWal)) continue;
    findings.push_back(warning(
        "replication", problem("replication-slot"),
        fmt::format("the {} slot {} keeps {} of WAL", slot.is_active ? "active" : "inactive",
                    slot.name, size_text(static_cast<double>(slot.bytes)))));
  }
  if (findings.empty()) {
    findings.push_back(
        ok("replication", fmt::format("none of {} keeps much WAL",
                                      counted(static_cast<std::int64_t>(slots->size()), "slot"))));
  }
  return findings;
}

Finding judge_settings(const SettingsFound& found, const std::optional<std::string>& reader) {
  constexpr const char* kCheck = "settings of skua run";
  constexpr const char* kCure =
      "Give `--http ADDRESS:PORT` of the process, or the flags with which it was started.";
  const std::string examined =
      found.examined.empty() ? "" : fmt::format("; examined: {}", found.examined);
  if (found.origin.empty()) {
    return reader ? skipped(kCheck, "not asked (--http off)" + examined, kCure)
                  : ok(kCheck, "no process reads a source" + examined);
  }
  if (found.failure.empty() && found.uses_database.value_or(true)) {
    return ok(kCheck, fmt::format("those of the process at {}, and the flags of this command{}",
                                  found.origin, examined));
  }
  const std::string why =
      found.failure.empty()
          ? fmt::format("the process at {} uses another database", found.origin)
          : fmt::format("{} does not state them: {}", found.origin, found.failure);
  if (!reader) return ok(kCheck, fmt::format("no process reads a source{}", examined));
  return skipped(kCheck, fmt::format("{}. A source is read by {}{}", why, *reader, examined),
                 kCure);
}

std::optional<microseconds> read_server_ahead(postgres::Session& session, const Clock& ours) {
  postgres::ServerClock clock(ours);
  clock.compare(session);
  return clock.ahead();
}

Findings judge_clocks(const ClocksFound& clocks) {
  Findings findings;
  std::string agreeing;
  if (clocks.server_ahead) {
    judge_clock(findings, *clocks.server_ahead, "PostgreSQL's");
    agreeing = "PostgreSQL";
  }
  if (!clocks.hosts_ahead.empty()) {
    const std::string hosts = counted(static_cast<std::int64_t>(clocks.hosts_ahead.size()), "host");
    judge_clock(findings, median(clocks.hosts_ahead), "that of " + hosts);
    agreeing += (agreeing.empty() ? "" : " and ") + hosts;
  }
  if (agreeing.empty()) {
    return {skipped("clocks", "not compared: neither PostgreSQL nor a host stated its time")};
  }
  if (findings.empty()) {
    findings.push_back(ok("clocks", fmt::format("this machine and {} agree", agreeing)));
  }
  if (!clocks.server_ahead) {
    findings.push_back(skipped("clocks",
                               "PostgreSQL's clock was not compared: it did not answer, "
                               "or too slowly"));
  }
  return findings;
}

DiskState read_disk(postgres::Session& session) {
  const auto server = session.query_one<ServerDisk>(sql::doctor_disk);
  DiskState disk{.database = server.database, .space = {}};
  if (server.data_directory && server.is_local) disk.space = space_of(*server.data_directory);
  return disk;
}

Finding judge_disk(const DiskState& disk) {
  const std::string size =
      fmt::format("the database has {}", size_text(static_cast<double>(disk.database)));
  if (!disk.space) {
    return skipped("disk", size + "; the free space of the server's disk is not known here",
                   "Look at it on the machine of the server, or run `skua doctor` there as a role "
                   "that may read `data_directory` (pg_read_all_settings).");
  }
  const auto& [free, total] = *disk.space;
  const std::string detail =
      fmt::format("{}; {} of {} are free", size, size_text(static_cast<double>(free)),
                  size_text(static_cast<double>(total)));
  if (free < kTooLittleSpace) return error("disk", problem("disk-full"), detail);
  const bool is_low =
      free < kLittleSpace || static_cast<double>(free) < kLittleShare * static_cast<double>(total);
  return is_low ? warning("disk", problem("disk-low"), detail) : ok("disk", detail);
}

}  // namespace skua::doctor
