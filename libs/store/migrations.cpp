#include "store/migrations.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "atproto/sha256.hpp"
#include "base/count_text.hpp"
#include "base/log.hpp"
#include "store/source_lock.hpp"

namespace skua::store {
namespace {

struct Applied {
  std::string name;
  std::string checksum;
};

std::map<int, Applied> applied_migrations(Session& session) {
  std::map<int, Applied> applied;
  if (session.run("SELECT to_regclass('skua.migrations')").is_null(0, 0)) return applied;
  const Rows rows = session.run("SELECT version, name, checksum FROM skua.migrations");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    applied[rows.int4(i, 0)] = {std::string(rows.text(i, 1)), std::string(rows.text(i, 2))};
  }
  return applied;
}

const Statement kRecord{
    "migrations_record",
    "INSERT INTO skua.migrations (version, name, checksum) VALUES ($1::int4, $2, $3)"};

/// If a query uses a table for longer than that, it should end first: later queries would wait
/// behind us.
constexpr std::chrono::minutes kTablePatience{1};

void apply(Session& session, const Migration& migration) {
  Transaction transaction(session);
  session.run(std::string(migration.sql));
  Params params;
  params.int4(migration.version).text(migration.name).text(migration.checksum());
  session.execute(kRecord, params);
  transaction.commit();
}

}  // namespace

std::string Migration::checksum() const {
  std::string text;
  for (const std::uint8_t byte : atproto::sha256(as_bytes(sql))) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

std::string Migration::label() const {
  return fmt::format("{:04}_{}", version, name);
}

std::vector<Migration> pending_migrations(Session& session, std::span<const Migration> known) {
  std::map<int, Applied> applied = applied_migrations(session);
  const int newest = applied.empty() ? 0 : applied.rbegin()->first;
  std::vector<Migration> pending;
  for (const Migration& migration : known) {
    const auto found = applied.find(migration.version);
    if (found == applied.end()) {
      if (migration.version < newest) {
        throw MigrationError(fmt::format(
            "the database had migration {} but never {}, which comes before it: it was made by "
            "another version of skua; use that one, or an empty database",
            newest, migration.label()));
      }
      pending.push_back(migration);
      continue;
    }
    if (found->second.checksum != migration.checksum()) {
      throw MigrationError(fmt::format(
          "migration {} was changed after the database had it (as {:04}_{}, checksum {:.12}..., "
          "now "
          "{:.12}...): use the version of skua that made the database, or an empty database",
          migration.label(), migration.version, found->second.name, found->second.checksum,
          migration.checksum()));
    }
    applied.erase(found);
  }
  if (!applied.empty()) {
    throw NewerDatabase(fmt::format(
        "the database is newer than this skua: it had migration {:04}_{}, this program knows {}: "
        "use the newer skua",
        applied.rbegin()->first, applied.rbegin()->second.name,
        counted(known.size(), "migration")));
  }
  std::sort(pending.begin(), pending.end(),
            [](const Migration& a, const Migration& b) { return a.version < b.version; });
  return pending;
}

std::vector<Migration> migrate(Session& session, std::span<const Migration> known) {
  const MigrationLock lock(session);
  std::vector<Migration> pending = pending_migrations(session, known);
  if (pending.empty()) return pending;
  const NoSources no_sources(session);
  session.limit_lock_waits(kTablePatience);
  for (const Migration& migration : pending) {
    apply(session, migration);
    logger("store")->debug("applied {}", migration.label());
  }
  session.limit_lock_waits(kLockPatience);
  return pending;
}

}  // namespace skua::store
