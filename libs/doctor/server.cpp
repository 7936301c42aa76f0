#include "doctor/server.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/count_text.hpp"
#include "base/size_text.hpp"
#include "doctor/server.sql.hpp"

namespace skua::doctor {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;
/// The default is 128 MiB; docs/install.md recommends a quarter of the memory.
constexpr std::int64_t kLittleSharedBuffers = 512 * kMiB;
/// The default is 1 GiB. With less, checkpoints follow each other while much is written.
constexpr std::int64_t kLittleWal = 4096 * kMiB;
/// The default is 4, which suits rotating disks.
constexpr double kHighPageCost = 2;
/// A reader that is restarted keeps less than that.
constexpr std::int64_t kMuchWal = 1024 * kMiB;
/// Even an active reader lags when it keeps that.
constexpr std::int64_t kVeryMuchWal = 16 * 1024 * kMiB;

}  // namespace

Findings judge_server(const store::ServerFacts& facts, const store::ServerNeeds& needs) {
  Findings findings;
  for (const auto& [problem, text] : store::server_problems(facts, needs)) {
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

ServerSettings read_server_settings(store::Session& session) {
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

std::optional<std::vector<ReplicationSlot>> read_replication_slots(store::Session& session) {
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

}  // namespace skua::doctor
