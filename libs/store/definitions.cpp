#include "store/definitions.hpp"

#include <compare>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "store/definitions.sql.hpp"

namespace skua::store {
namespace {

/// A function or view of our schemas, such as `view bsky.posts_view`. Each CREATE OR REPLACE gives
/// it another place.
struct PlacedObject {
  std::string name;
  std::string place;

  friend auto operator<=>(const PlacedObject&, const PlacedObject&) = default;
};

/// A row of definitions_files: a file that was applied to the database.
struct AppliedFile {
  std::string name;
  std::string checksum;
  /// The database has all objects of the file.
  bool is_complete;
};

struct OwnedObject {
  std::string name;
  std::string file;
};

/// The file that creates the views of added lexicons again.
constexpr const char* kLexiconViews = "views/lexicons.sql";

/// invalid_table_definition, invalid_function_definition: CREATE OR REPLACE cannot change the
/// columns of a view, or the result of a function, in this way.
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
      : session_(session), known_(known), names_(std::move(names)) {
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

  /// Runs the file. Returns the objects that it created or replaced.
  std::set<std::string> create(const SchemaFile& file) {
    const auto before = query_set<PlacedObject>(session_, sql::definitions_objects);
    session_.run(std::string(file.sql));
    std::set<std::string> created;
    for (const PlacedObject& object : session_.query<PlacedObject>(sql::definitions_objects)) {
      // Grants change functions, too.
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

  /// Drops these objects and all of ours that depend on them, whose files are applied later.
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
      // A name cannot be a parameter. The server quotes it where it must.
      session_.run("DROP " + object);
      names_.insert(lexicon_views_.contains(object) ? kLexiconViews : file_of_.at(object));
    }
  }

  /// Drops what the former versions of the files created, and the present ones do not.
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
  /// The files that are applied.
  std::set<std::string> names_;
  /// By object: the file that created it before this run.
  std::map<std::string, std::string> file_of_;
  /// The views of added lexicons. No file names them.
  std::set<std::string> lexicon_views_;
  /// The objects of the files that were applied.
  std::set<std::string> created_;
};

}  // namespace

std::vector<SchemaFile> changed_definitions(Session& session, std::span<const SchemaFile> known) {
  // The checksum of each file; empty: an object of the file is missing.
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

}  // namespace skua::store
