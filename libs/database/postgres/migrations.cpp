#include "postgres/migrations.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "atproto/sha256.hpp"
#include "base/hex.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "postgres/locks.hpp"
#include "postgres/migrations.sql.hpp"
#include "postgres/query_database.hpp"

namespace skua::postgres {

namespace {

std::string hex_digest(std::string_view text) {
  return hex_text(atproto::sha256(as_bytes(text)));
}

/// A function or view of our schemas, such as `view bsky.posts_view`. Each CREATE OR REPLACE
/// changes its place.
struct PlacedObject {
  std::string name;
  std::string place;

  friend auto operator<=>(const PlacedObject&, const PlacedObject&) = default;
};

/// A row of definitions_files: a file that was applied to the database.
struct AppliedFile {
  std::string name;
  std::string checksum;
  /// Whether the database has all objects of the file.
  bool is_complete;
};

struct OwnedObject {
  std::string name;
  std::string file;
};

/// The file that restores the views of added lexicons.
constexpr const char* kLexiconViews = "views/lexicons.sql";

/// Whether CREATE OR REPLACE cannot change the columns of a view or the result of a function in
/// this way: invalid_table_definition or invalid_function_definition.
bool needs_drop(const DefectError& error) {
  return error.sqlstate() == "42P16" || error.sqlstate() == "42P13";
}

template <class Row>
std::set<Row> query_set(Session& session, const Statement& statement) {
  const std::vector<Row> rows = session.query<Row>(statement);
  return {rows.begin(), rows.end()};
}

/// Whether a file creates an object, such as `function bsky.post(text)`.
bool creates(std::string_view sql, std::string_view object) {
  const std::size_t space = object.find(' ');
  const std::string_view kind = object.substr(0, space);
  const std::string_view name = object.substr(space + 1, object.find('(') - space - 1);
  const char* format =
      kind == "view" ? "CREATE OR REPLACE VIEW {} " : "CREATE OR REPLACE FUNCTION {}(";
  return sql.find(fmt::format(fmt::runtime(format), name)) != std::string_view::npos;
}

/// One run of apply_definitions.
class Application {
 public:
  Application(Session& session, std::span<const SchemaFile> known, std::set<std::string> names)
      : session_(session),
        known_(known),
        names_(std::move(names)),
        is_query_database_(postgres::is_query_database(session)) {
    for (const auto& [name, file] : session_.query<OwnedObject>(sql::definitions_owned_objects)) {
      file_of_.emplace(name, file);
    }
    if (!session_.query_one<bool>(sql::definitions_have_lexicons)) return;
    lexicon_views_ = query_set<std::string>(session_, sql::definitions_lexicon_views);
  }

  void run() {
    for (const SchemaFile& file : known_) {
      if (names_.contains(std::string(file.name))) apply(file);
    }
    drop_leftovers();
  }

 private:
  void apply(const SchemaFile& file) {
    std::set<std::string> created;
    try {
      session_.run("SAVEPOINT definitions");
      created = create(file);
    } catch (const DefectError& error) {
      if (!needs_drop(error)) throw;
      session_.run("ROLLBACK TO SAVEPOINT definitions");
      logger("store")->debug("{}: {}", file.name, error.what());
      drop(objects_of(std::string(file.name)), file.name);
      created = create(file);
    }
    session_.run("RELEASE SAVEPOINT definitions");
    session_.execute(sql::definitions_save, file.name, file.checksum(), created);
    created_.merge(created);
    logger("store")->debug("applied {}", file.name);
  }

  /// Runs the file. Returns the objects that the file created or replaced.
  std::set<std::string> create(const SchemaFile& file) {
    const auto before = query_set<PlacedObject>(session_, sql::definitions_objects);
    const std::string sql(file.sql);
    session_.run(is_query_database_ ? for_query_database(sql) : sql);
    std::set<std::string> created;
    for (const PlacedObject& object : session_.query<PlacedObject>(sql::definitions_objects)) {
      // Grants also change functions, so the file itself must contain the object.
      if (!before.contains(object) && creates(file.sql, object.name)) created.insert(object.name);
    }
    return created;
  }

  std::set<std::string> objects_of(const std::string& file) const {
    std::set<std::string> objects;
    for (const auto& [object, owner] : file_of_) {
      if (owner == file) objects.insert(object);
    }
    return objects;
  }

  /// Drops these objects and all objects of ours that depend on them. The files of all dropped
  /// objects are applied later.
  void drop(const std::set<std::string>& objects, std::string_view reason) {
    std::vector<std::string> ours;
    std::vector<std::string> others;
    for (std::string& object : session_.query<std::string>(sql::definitions_dependents, objects)) {
      const bool is_ours = file_of_.contains(object) || lexicon_views_.contains(object);
      (is_ours ? ours : others).push_back(std::move(object));
    }
    if (!others.empty()) {
      throw MigrationError(fmt::format(
          "{} changes objects on which others depend that are not from skua: {}. Drop these, run "
          "`skua migrate` again, and then create them again",
          reason, fmt::join(others, ", ")));
    }
    for (const std::string& object : ours) {
      // A name cannot be a parameter of a statement. The server has quoted the name where
      // necessary.
      session_.run("DROP " + object);
      names_.insert(lexicon_views_.contains(object) ? kLexiconViews : file_of_.at(object));
    }
  }

  /// Drops objects that earlier versions of the files created and the current versions do not.
  void drop_leftovers() {
    std::set<std::string> files;
    for (const SchemaFile& file : known_) files.emplace(file.name);
    std::set<std::string> leftovers;
    for (const auto& [object, file] : file_of_) {
      const bool was_applied = names_.contains(file) || !files.contains(file);
      if (was_applied && !created_.contains(object)) leftovers.insert(object);
    }
    if (!leftovers.empty()) drop(leftovers, "this version of skua");
    for (const auto& name : session_.query<std::string>(sql::definitions_file_names)) {
      if (!files.contains(name)) session_.execute(sql::definitions_forget, name);
    }
  }

  Session& session_;
  const std::span<const SchemaFile> known_;
  /// The names of the files that must be applied.
  std::set<std::string> names_;
  const bool is_query_database_;
  /// For each object, the file that created it before this run.
  std::map<std::string, std::string> file_of_;
  /// The views of added lexicons. No file names these views.
  std::set<std::string> lexicon_views_;
  /// The objects of the files that this run has applied.
  std::set<std::string> created_;
};

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

/// If a query uses a table for longer than this time, we give up, so that later queries do not wait
/// behind our lock.
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

/// Checks a database without the row of the baseline. Only the databases of `Schema::former` may
/// become the baseline. Returns the version of the newest migration of the database.
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

/// Whether the files of `tables` created a database whose baseline has this checksum.
/// `Schema::former` has the checksums of former files that created the same tables.
bool is_baseline(const std::string& checksum, const Schema& schema) {
  if (checksum == schema.tables_checksum()) return true;
  const auto [begin, end] = schema.former.equal_range(schema.baseline);
  return std::any_of(begin, end, [&](const auto& each) { return each.second == checksum; });
}

/// Returns the migrations after `first` that the database lacks.
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

std::string SchemaFile::checksum() const {
  return hex_digest(sql);
}

std::string Migration::checksum() const {
  return hex_digest(sql);
}

std::string Migration::label() const {
  return fmt::format("{:04}_{}", version, name);
}

int Schema::version() const {
  return migrations.empty() ? baseline : std::max(baseline, migrations.back().version);
}

std::string Schema::tables_checksum() const {
  std::string text;
  for (const SchemaFile& file : tables) text += file.sql;
  return hex_digest(text);
}

std::vector<SchemaFile> changed_definitions(Session& session, std::span<const SchemaFile> known) {
  // The checksum of each applied file. Empty if an object of the file is missing.
  std::map<std::string, std::string> applied;
  for (const auto& [name, checksum, is_complete] :
       session.query<AppliedFile>(sql::definitions_files)) {
    applied.emplace(name, is_complete ? checksum : "");
  }
  std::vector<SchemaFile> changed;
  for (const SchemaFile& file : known) {
    const auto found = applied.find(std::string(file.name));
    if (found == applied.end() || found->second != file.checksum()) changed.push_back(file);
    if (found != applied.end()) applied.erase(found);
  }
  const bool is_current = changed.empty() && applied.empty();
  if (is_current || known.empty()) return changed;
  if (changed.empty() || changed.back().name != known.back().name) changed.push_back(known.back());
  return changed;
}

void apply_definitions(Session& session, std::span<const SchemaFile> known,
                       std::set<std::string> names) {
  Application(session, known, std::move(names)).run();
}

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
  } else if (!is_baseline(baseline->second.checksum, schema)) {
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
  const bool is_query_database = !changes.is_new && postgres::is_query_database(session);
  if (is_query_database) require_migrated_nodes(session, schema);
  const NoSources no_sources(session);
  session.limit_lock_waits(kTablePatience);
  Transaction transaction(session);
  // Views of a node and foreign tables would keep migrations from changing columns.
  const bool is_node = !changes.is_new && hide_ranges(session);
  if (is_query_database) disconnect_nodes(session);
  if (changes.is_new) {
    for (const SchemaFile& file : schema.tables) {
      session.run(std::string(file.sql));
      logger("store")->debug("applied {}", file.name);
    }
    record_baseline(session, schema);
    for (const SchemaFile& file : std::span(schema.definitions).first(schema.before_migrations)) {
      session.run(std::string(file.sql));
    }
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
  if (is_query_database && !changes.migrations.empty()) {
    divide_tables(session, schema);
  } else {
    std::set<std::string> names;
    for (const SchemaFile& file : changes.definitions) names.emplace(file.name);
    apply_definitions(session, schema.definitions, std::move(names));
  }
  if (is_query_database) connect_nodes(session);
  if (is_node) show_ranges(session);
  transaction.commit();
  session.limit_lock_waits(kLockPatience);
  return changes;
}

}  // namespace skua::postgres
