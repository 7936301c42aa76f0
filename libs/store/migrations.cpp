#include "store/migrations.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/log.hpp"
#include "store/migrations.sql.hpp"
#include "store/source_lock.hpp"

namespace skua::store {
namespace {

constexpr const char* kBaseline = "baseline";

struct Applied {
  std::int32_t version;
  std::string name;
  std::string checksum;
};

std::map<int, Applied> applied_migrations(Session& session) {
  std::map<int, Applied> applied;
  if (!session.query_one<bool>(sql::migrations_have_table)) return applied;
  for (Applied& migration : session.query<Applied>(sql::migrations_read)) {
    applied.emplace(migration.version, std::move(migration));
  }
  return applied;
}

/// If a query uses a table for longer than that, it should end first: later queries would wait
/// behind us.
constexpr std::chrono::minutes kTablePatience{1};

void record_baseline(Session& session, const Schema& schema) {
  session.execute(sql::migrations_record, schema.baseline, kBaseline, schema.tables_checksum());
}

[[noreturn]] void throw_changed(const std::string& label, const Applied& found,
                                const std::string& checksum) {
  throw MigrationError(fmt::format(
      "migration {} was changed after the database had it (as {}, checksum {:.12}..., now "
      "{:.12}...): use the version of skua that made the database, or an empty database",
      label, found.name, found.checksum, checksum));
}

/// A database without the row of the baseline: those of `Schema::former` become the baseline.
/// Returns the version of its newest migration.
int former_version(const std::map<int, Applied>& applied, const Schema& schema) {
  const int newest = applied.rbegin()->first;
  std::string checksums;
  for (const auto& [version, migration] : applied) checksums += migration.checksum;
  const auto [begin, end] = schema.former.equal_range(newest);
  if (begin != end) {
    const std::string checksum = SchemaFile{.name = {}, .sql = checksums}.checksum();
    if (std::any_of(begin, end, [&](const auto& each) { return each.second == checksum; })) {
      return newest;
    }
    throw MigrationError(fmt::format(
        "the migrations of the database, up to {:04}_{}, are not those of a version of skua: use "
        "the program that made the database, or an empty database",
        newest, applied.rbegin()->second.name));
  }
  throw MigrationError(fmt::format(
      "the database has the schema of migration {:04}_{}, and this skua can upgrade a database "
      "from "
      "migration {:04} on: create an empty database, run `skua migrate` on it, and index into it",
      newest, applied.rbegin()->second.name,
      schema.former.empty() ? schema.baseline : schema.former.begin()->first));
}

/// The migrations after `first` that the database lacks.
std::vector<Migration> pending_migrations(const std::map<int, Applied>& applied,
                                          const Schema& schema, int first) {
  std::vector<Migration> pending;
  for (const Migration& migration : schema.migrations) {
    if (migration.version <= first) continue;
    const auto found = applied.find(migration.version);
    if (found != applied.end()) {
      if (found->second.checksum != migration.checksum()) {
        throw_changed(migration.label(), found->second, migration.checksum());
      }
    } else if (!applied.empty() && migration.version < applied.rbegin()->first) {
      throw MigrationError(fmt::format(
          "the database had migration {} but never {}, which comes before it: it was made by "
          "another version of skua; use that one, or an empty database",
          applied.rbegin()->first, migration.label()));
    } else {
      pending.push_back(migration);
    }
  }
  return pending;
}

}  // namespace

std::string SchemaChanges::text() const {
  if (is_new) return "has no tables";
  if (!migrations.empty()) {
    return fmt::format("lacks {}, from {} on", counted(migrations.size(), "migration"),
                       migrations.front().label());
  }
  return fmt::format("has other views or functions than this program: {}",
                     definitions.empty() ? "" : definitions.front().name);
}

SchemaChanges pending_changes(Session& session, const Schema& schema) {
  const std::map<int, Applied> applied = applied_migrations(session);
  SchemaChanges changes;
  if (!applied.empty() && applied.rbegin()->first > schema.version()) {
    throw NewerDatabase(fmt::format(
        "the database is newer than this skua: it had migration {:04}_{}, the newest one of this "
        "program is {:04}: use the newer skua",
        applied.rbegin()->first, applied.rbegin()->second.name, schema.version()));
  }
  int first = schema.baseline;
  if (applied.empty()) {
    changes.is_new = true;
  } else if (const auto baseline = applied.find(schema.baseline); baseline == applied.end()) {
    first = former_version(applied, schema);
  } else if (baseline->second.checksum != schema.tables_checksum()) {
    throw_changed(fmt::format("{:04}_{}", schema.baseline, kBaseline), baseline->second,
                  schema.tables_checksum());
  }
  changes.migrations = pending_migrations(applied, schema, first);
  const bool changes_tables = changes.is_new || !changes.migrations.empty();
  changes.definitions =
      changes_tables ? schema.definitions : changed_definitions(session, schema.definitions);
  return changes;
}

SchemaChanges migrate(Session& session, const Schema& schema) {
  const MigrationLock lock(session);
  SchemaChanges changes = pending_changes(session, schema);
  if (changes.empty()) return changes;
  const NoSources no_sources(session);
  session.limit_lock_waits(kTablePatience);
  Transaction transaction(session);
  if (changes.is_new) {
    for (const SchemaFile& file : schema.tables) {
      session.run(std::string(file.sql));
      logger("store")->debug("applied {}", file.name);
    }
    record_baseline(session, schema);
  }
  for (const Migration& migration : changes.migrations) {
    session.run(std::string(migration.sql));
    if (migration.version == schema.baseline) {
      record_baseline(session, schema);
    } else {
      session.execute(sql::migrations_record, migration.version, migration.name,
                      migration.checksum());
    }
    logger("store")->debug("applied {}", migration.label());
  }
  std::set<std::string> names;
  for (const SchemaFile& file : changes.definitions) names.emplace(file.name);
  apply_definitions(session, schema.definitions, std::move(names));
  transaction.commit();
  session.limit_lock_waits(kLockPatience);
  return changes;
}

}  // namespace skua::store
