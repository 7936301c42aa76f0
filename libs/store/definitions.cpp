#include "store/definitions.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"

namespace skua::store {
namespace {

/// The functions and views of our schemas, such as `view bsky.posts_view`. `place` is another one
/// after each CREATE OR REPLACE.
const std::string kObjects =
    "objects AS (SELECT o.classid, o.objid, o.place, i.type || ' ' || i.identity AS name FROM ("
    "SELECT 'pg_proc'::regclass::oid AS classid, p.oid AS objid, p.ctid::text AS place, "
    "p.pronamespace AS schema FROM pg_proc AS p UNION ALL "
    "SELECT 'pg_class'::regclass::oid, c.oid, r.ctid::text, c.relnamespace FROM pg_class AS c "
    "JOIN pg_rewrite AS r ON r.ev_class = c.oid WHERE c.relkind = 'v') AS o "
    "JOIN pg_namespace AS n ON n.oid = o.schema AND n.nspname IN ('bsky', 'skua') "
    "CROSS JOIN LATERAL pg_identify_object(o.classid, o.objid, 0) AS i) ";

/// The named objects and all that depend on them, those first on which nothing depends. A view
/// depends on another one through its rule, and a function through the row type.
const Statement kDependents{
    "definitions_dependents",
    "WITH RECURSIVE " + kObjects +
        ", dependents(classid, objid, depth) AS ("
        "SELECT classid, objid, 0 FROM objects WHERE name = ANY ($1::text[]) UNION "
        "SELECT d.classid, d.objid, s.depth + 1 FROM dependents AS s CROSS JOIN LATERAL ("
        "SELECT CASE WHEN r.oid IS NULL THEN p.classid ELSE 'pg_class'::regclass::oid END AS "
        "classid, "
        "coalesce(r.ev_class, p.objid) AS objid FROM pg_depend AS p "
        "LEFT JOIN pg_rewrite AS r ON p.classid = 'pg_rewrite'::regclass AND r.oid = p.objid "
        "WHERE p.refclassid = s.classid AND p.refobjid = s.objid) AS d "
        "WHERE (d.classid, d.objid) <> (s.classid, s.objid)) "
        "SELECT i.type || ' ' || i.identity FROM dependents AS d "
        "CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) AS i "
        "WHERE d.classid <> 'pg_type'::regclass GROUP BY 1 ORDER BY max(d.depth) DESC, 1"};

const Statement kSave{
    "definitions_save",
    "INSERT INTO skua.schema_files (name, checksum, objects) VALUES ($1, $2, $3::text[]) "
    "ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, objects = excluded.objects, "
    "applied_at = excluded.applied_at"};

const Statement kForget{"definitions_forget", "DELETE FROM skua.schema_files WHERE name = $1"};

/// The file that creates the views of added lexicons again.
constexpr const char* kLexiconViews = "views/lexicons.sql";

/// invalid_table_definition, invalid_function_definition: CREATE OR REPLACE cannot change the
/// columns of a view, or the result of a function, in this way.
bool needs_drop(const DefectError& error) {
  return error.sqlstate() == "42P16" || error.sqlstate() == "42P13";
}

std::set<std::string> set_of(const Rows& rows) {
  const std::vector<std::string> values = rows_of<std::string>(rows);
  return {values.begin(), values.end()};
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
    const Rows rows = session_.run("SELECT name, unnest(objects) FROM skua.schema_files");
    for (std::size_t row = 0; row < rows.size(); ++row) {
      file_of_.emplace(rows.text(row, 1), rows.text(row, 0));
    }
    if (session_.run("SELECT to_regclass('skua.lexicons')").is_null(0, 0)) return;
    lexicon_views_ = set_of(session_.run(
        "SELECT format('view lexicon.%I', view_name) FROM skua.lexicons WHERE view_name IS NOT "
        "NULL"));
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
    session_.execute(kSave, file.name, file.checksum(), created);
    created_.merge(created);
    logger("store")->debug("applied {}", file.name);
  }

  /// Runs the file. Returns the objects that it created or replaced.
  std::set<std::string> create(const SchemaFile& file) {
    const std::string list_objects =
        "WITH " + kObjects + "SELECT name || E'\\n' || place FROM objects";
    const std::set<std::string> before = set_of(session_.run(list_objects));
    session_.run(std::string(file.sql));
    std::set<std::string> created;
    for (const std::string& entry : set_of(session_.run(list_objects))) {
      std::string object = entry.substr(0, entry.find('\n'));
      // Grants change functions, too.
      if (!before.contains(entry) && creates(file.sql, object)) created.insert(std::move(object));
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
    for (std::string& object : session_.query<std::string>(kDependents, objects)) {
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
    for (const std::string& name : set_of(session_.run("SELECT name FROM skua.schema_files"))) {
      if (!files.contains(name)) session_.execute(kForget, name);
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
  const Rows rows =
      session.run("WITH " + kObjects +
                  "SELECT f.name, f.checksum, f.objects <@ ARRAY(SELECT o.name FROM objects AS o) "
                  "FROM skua.schema_files AS f");
  // Of each file that is complete: the checksum.
  std::map<std::string, std::string> applied;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    applied.emplace(rows.text(row, 0), rows.boolean(row, 2) ? rows.text(row, 1) : "");
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
