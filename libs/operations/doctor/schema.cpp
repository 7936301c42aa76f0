#include "doctor/schema.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "doctor/schema.sql.hpp"
#include "postgres/migrations.hpp"

namespace skua::doctor {

namespace {

/// A finding shows at most this number of statements and names.
constexpr std::size_t kShown = 5;

ExpectedIndex parse_index(std::string_view statement) {
  constexpr std::string_view kUnique = "CREATE UNIQUE INDEX ";
  constexpr std::string_view kPlain = "CREATE INDEX ";
  const bool is_unique = statement.starts_with(kUnique);
  if (!is_unique && !statement.starts_with(kPlain)) throw std::invalid_argument("not an index");
  std::string_view rest = statement.substr(is_unique ? kUnique.size() : kPlain.size());
  const std::string_view name = rest.substr(0, rest.find(' '));
  const std::size_t on = rest.find(" ON ");
  if (on == rest.npos) throw std::invalid_argument("an index without a table");
  rest.remove_prefix(on + 4);
  if (rest.starts_with("ONLY ")) rest.remove_prefix(5);
  const std::string_view schema = rest.substr(0, rest.find('.'));
  return {fmt::format("{}.{}", schema, name), is_unique, std::string(statement)};
}

/// Returns the statement that builds the index without blocking writers. For a partitioned table
/// there is no such statement.
std::string build_statement(const ExpectedIndex& index) {
  std::string statement = index.statement;
  if (statement.find(" ON ONLY ") == statement.npos) {
    constexpr std::string_view kIndex = "INDEX ";
    statement.insert(statement.find(kIndex) + kIndex.size(), "CONCURRENTLY ");
  }
  return statement + ";";
}

std::string names_text(std::vector<std::string> names) {
  const std::size_t all = names.size();
  names.resize(std::min(all, kShown));
  return fmt::format("{}{}", fmt::join(names, ", "),
                     all > kShown ? fmt::format(" and {} more", all - kShown) : "");
}

Finding missing_finding(const std::vector<const ExpectedIndex*>& missing) {
  std::vector<std::string> names;
  std::vector<std::string> statements;
  for (const ExpectedIndex* index : missing) {
    names.push_back(index->name);
    if (statements.size() < kShown) statements.push_back(build_statement(*index));
  }
  const auto count = static_cast<std::int64_t>(missing.size());
  const std::string detail = fmt::format("{} {} missing: {}", counted(count, "index"),
                                         count == 1 ? "is" : "are", names_text(names));
  const std::string cure =
      fmt::format("Run: {}{}", fmt::join(statements, " "),
                  names.size() > kShown ? " Then run `skua doctor` again for the others." : "");
  // Without its unique indexes, writes to a table fail.
  const bool is_needed = std::ranges::any_of(missing, &ExpectedIndex::is_unique);
  return is_needed ? error("indexes", problem("index-missing"), detail, cure)
                   : warning("indexes", problem("index-missing"), detail, cure);
}

/// Returns whether an index is a remainder of an interrupted `reindex index concurrently`.
bool is_remainder(std::string_view name) {
  return name.find("_ccnew") != name.npos || name.find("_ccold") != name.npos;
}

/// `expected` is null for an index that the schema does not have: an index of a user, or a
/// remainder.
Finding invalid_finding(const std::string& name, const ExpectedIndex* expected) {
  const std::string detail = name + " is invalid";
  const std::string cure =
      is_remainder(name) || expected == nullptr
          ? fmt::format(
                "Run `drop index concurrently {}`. If it is an index of `skua index` or of "
                "`skua lexicon add --index`, run that command again.",
                name)
          : fmt::format("Run `reindex index concurrently {}`.", name);
  const bool is_unique = expected != nullptr && expected->is_unique;
  return is_unique ? error("indexes", problem("index-invalid"), detail, cure)
                   : warning("indexes", problem("index-invalid"), detail, cure);
}

/// Returns a finding for each present index that is invalid and that nothing is building now.
Findings invalid_findings(const std::vector<ExpectedIndex>& expected,
                          const std::vector<PresentIndex>& present) {
  std::map<std::string_view, const ExpectedIndex*> expected_by_name;
  for (const ExpectedIndex& index : expected) expected_by_name[index.name] = &index;
  Findings findings;
  for (const PresentIndex& index : present) {
    if (index.is_valid || index.is_being_built) continue;
    const auto place = expected_by_name.find(index.name);
    findings.push_back(
        invalid_finding(index.name, place == expected_by_name.end() ? nullptr : place->second));
  }
  return findings;
}

/// Returns the expected indexes that the database does not have and that no bootstrap builds later.
std::vector<const ExpectedIndex*> find_missing_indexes(const std::vector<ExpectedIndex>& expected,
                                                       const IndexesFound& found) {
  std::set<std::string_view> accounted_for(found.dropped.begin(), found.dropped.end());
  for (const PresentIndex& index : found.present) accounted_for.insert(index.name);
  std::vector<const ExpectedIndex*> missing;
  for (const ExpectedIndex& index : expected) {
    if (!accounted_for.contains(index.name)) missing.push_back(&index);
  }
  return missing;
}

}  // namespace

SchemaState read_schema_state(postgres::Session& session) {
  const postgres::Schema& schema = postgres::schema();
  try {
    const postgres::SchemaChanges changes = postgres::pending_changes(session, schema);
    if (changes.empty()) return {.text = schema.migrations.back().label()};
    return {.kind = SchemaState::Kind::Old, .text = changes.text()};
  } catch (const postgres::NewerDatabase& difference) {
    return {.kind = SchemaState::Kind::Newer, .text = difference.what()};
  } catch (const postgres::MigrationError& difference) {
    return {.kind = SchemaState::Kind::Other, .text = difference.what()};
  }
}

Finding judge_schema(const SchemaState& state) {
  switch (state.kind) {
    case SchemaState::Kind::Current:
      return ok("schema", "current, up to migration " + state.text);
    case SchemaState::Kind::Old:
      return error("schema", problem("schema-old"), "the database " + state.text);
    case SchemaState::Kind::Newer:
      return error("schema", problem("schema-new"), state.text);
    case SchemaState::Kind::Other:
      break;
  }
  return error("schema", problem("schema-other"), state.text);
}

Finding judge_table_layout(const std::optional<std::string>& problem) {
  if (!problem) return ok("tables", "all are plain tables");
  return error("tables", skua::problem("tables-divided"), *problem);
}

std::vector<ExpectedIndex> parse_indexes(std::string_view text) {
  std::vector<ExpectedIndex> indexes;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with("--")) continue;
    if (!line.ends_with(';')) throw std::invalid_argument("a statement without a semicolon");
    line.remove_suffix(1);
    indexes.push_back(parse_index(line));
  }
  return indexes;
}

IndexesFound read_indexes(postgres::Session& session) {
  return {.present = session.query<PresentIndex>(sql::doctor_indexes),
          .dropped = session.query<std::string>(sql::doctor_dropped_indexes)};
}

Findings judge_indexes(const std::vector<ExpectedIndex>& expected, const IndexesFound& found) {
  Findings findings = invalid_findings(expected, found.present);
  const auto missing = find_missing_indexes(expected, found);
  if (!missing.empty()) findings.push_back(missing_finding(missing));
  if (!findings.empty()) return findings;
  const auto count = static_cast<std::int64_t>(found.present.size());
  return {ok("indexes", fmt::format("{}, all valid", counted(count, "index")))};
}

}  // namespace skua::doctor
