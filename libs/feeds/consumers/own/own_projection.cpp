#include "consumers/own/own_projection.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "atproto/sha256.hpp"
#include "atproto/syntax.hpp"
#include "base/bytes.hpp"
#include "base/hex.hpp"
#include "base/text.hpp"
#include "consumers/own/own_columns.hpp"
#include "consumers/own/own_differences.hpp"
#include "consumers/own/own_functions.hpp"
#include "consumers/projections/projection_file.hpp"

namespace skua::consumers {
namespace {

using Kind = OwnStatement::Kind;

[[noreturn]] void refuse(const std::string& reason) {
  throw std::invalid_argument(reason);
}

/// Returns a list such as `q.lang, q.posts`.
std::string listed(const std::vector<std::string>& names, std::string_view prefix = {},
                   std::string_view separator = ", ") {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += separator;
    text += fmt::format("{}{}", prefix, name);
  }
  return text;
}

std::vector<std::string> names_of(const std::vector<OwnColumn>& columns) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const OwnColumn& column : columns) names.push_back(column.name);
  return names;
}

/// Returns a list such as `one.a = other.a AND one.b = other.b`.
std::string equal(const std::vector<std::string>& names, std::string_view one,
                  std::string_view other) {
  std::vector<std::string> terms;
  terms.reserve(names.size());
  for (const std::string& name : names)
    terms.push_back(fmt::format("{0}.{2} = {1}.{2}", one, other, name));
  return fmt::format("{}", fmt::join(terms, " AND "));
}

/// Returns the condition that not all of these numbers are 0.
std::string not_zero(const std::vector<std::string>& numbers) {
  return fmt::format("ROW({}) IS DISTINCT FROM ROW({})", fmt::join(numbers, ", "),
                     fmt::join(std::vector<std::string>(numbers.size(), "0"), ", "));
}

/// Checks that all columns outside of the key can be sums.
void check_sums(const std::string& table, const OwnColumns& columns) {
  const auto values = columns.values();
  if (values.empty()) refuse(fmt::format("table {}: no column is a sum", table));
  for (const OwnColumn& value : values) {
    if (is_exact_number(value.type) && !value.is_nullable) continue;
    refuse(
        fmt::format("table {}: the column {} outside of the key is a sum: its type is an integer "
                    "or numeric, and it is NOT NULL",
                    table, value.name));
  }
}

/// Makes the statements of a projection in the simple form.
class Derivation {
 public:
  Derivation(Projection& projection, const std::map<std::string, OwnColumns>& columns)
      : projection_(projection), own_(*projection.own), columns_(columns) {}

  void run() {
    if (!projection_.fill.empty() || !projection_.fold.empty() ||
        !projection_.differences.empty()) {
      refuse("`-- rows` replaces `-- fill`, `-- fold` and `-- differences`: give one form");
    }
    if (!own_.on_nodes.empty()) {
      refuse("`-- nodes` is for a file with its own fill and fold: `-- rows` and `-- sum` say it");
    }
    if (own_.collections.empty()) refuse("`-- rows` needs `-- collections: NSID, NSID`");
    std::set<std::string> written;
    for (const auto* parts : {&own_.rows, &own_.sums}) {
      for (const OwnRows& part : *parts) {
        columns_of(part.table);
        if (!written.insert(part.table).second)
          refuse(fmt::format("two parts give the rows of {}", part.table));
      }
    }
    for (const ProjectionTable& table : projection_.tables) {
      if (!written.contains(table.name)) {
        refuse(fmt::format("no `-- rows` and no `-- sum` gives the rows of {}", table.name));
      }
    }
    for (const OwnRows& sum : own_.sums) check_sum(sum);
    for (const OwnRows& rows : own_.rows) add_rows(rows);
    for (const OwnRows& sum : own_.sums) add_sum_fill(sum);
  }

 private:
  const OwnColumns& columns_of(const std::string& table) const {
    const auto found = columns_.find(table);
    if (found == columns_.end()) refuse(fmt::format("there is no `-- table: {}`", table));
    return found->second;
  }

  /// Returns the table over which a sum counts.
  const OwnRows& rows_of(const OwnRows& sum) const {
    const OwnRows* found = nullptr;
    for (const OwnRows& rows : own_.rows) {
      if (sum.select.find("{" + rows.table + "}") == std::string::npos) continue;
      if (found != nullptr) refuse(fmt::format("`-- sum: {}` counts over two tables", sum.table));
      found = &rows;
    }
    if (found == nullptr) {
      refuse(fmt::format("`-- sum: {}` needs FROM {{TABLE}} with a table of `-- rows`", sum.table));
    }
    return *found;
  }

  void check_sum(const OwnRows& sum) {
    const OwnColumns& columns = columns_of(sum.table);
    check_sums(sum.table, columns);
    own_.checked_sums.push_back(
        {.part = fmt::format("`-- sum: {}`", sum.table),
         .select = fmt::format("SELECT {} FROM ({}) AS q", listed(names_of(columns.columns), "q."),
                               sum.select),
         .over = rows_of(sum).table});
  }

  /// The columns of a table of rows that name its record.
  std::vector<std::string> record_key(const std::string& table) const {
    const OwnColumns& columns = columns_of(table);
    std::vector<std::string> names = {"actor_id", "rkey"};
    if (columns.has("collection_id")) names.emplace_back("collection_id");
    if (own_.collections.size() > 1 && names.size() == 2) {
      refuse(fmt::format("table {}: with several collections it needs the column collection_id",
                         table));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool is_first =
          i < columns.key.size() && std::ranges::find(names, columns.key[i]) != names.end();
      if (!is_first) {
        refuse(fmt::format("table {}: its primary key begins with {}, the key of the record", table,
                           listed(names)));
      }
    }
    return names;
  }

  /// `{keys}` becomes the name of a part of the statement.
  static std::string over_keys(const OwnRows& rows) {
    if (rows.select.find("{keys}") == std::string::npos) {
      refuse(fmt::format("`-- rows: {}` needs {{keys}}, the keys of the records", rows.table));
    }
    std::string select = rows.select;
    boost::replace_all(select, "{keys}", "skua_keys");
    return select;
  }

  /// Returns the columns of `q` with the types of the table.
  static std::string cast(const OwnColumns& columns) {
    std::vector<std::string> terms;
    for (const OwnColumn& column : columns.columns) {
      terms.push_back(fmt::format("q.{0}::{1} AS {0}", column.name, column.type));
    }
    return fmt::format("{}", fmt::join(terms, ", "));
  }

  std::string lane_condition() const {
    return projection_.has_lanes ? "WHERE k.actor_id & ($4::int4 - 1) = $3::int4" : "";
  }

  void add_rows(const OwnRows& rows) {
    const OwnColumns& columns = columns_of(rows.table);
    const std::vector<std::string> record = record_key(rows.table);
    const std::string select = over_keys(rows);
    const std::string part = fmt::format("`-- rows: {}`", rows.table);
    const std::string names = listed(names_of(columns.columns));
    const std::size_t number = own_.statements.size() / 2 + 1;
    own_.statements.push_back(
        {.part = part,
         .suffix = fmt::format("fill{}", number),
         .kind = Kind::Fill,
         .sql = fmt::format("WITH skua_keys AS NOT MATERIALIZED ({{skua records}})\n"
                            "INSERT INTO {{{0}}} ({1}) SELECT {2} FROM ({3}) AS q ORDER BY {4}",
                            rows.table, names, cast(columns), select, listed(columns.key, "q."))});
    const std::string compared = fmt::format(
        "skua_records AS MATERIALIZED (SELECT DISTINCT {0} FROM skua_keys),\n"
        "skua_old AS MATERIALIZED (SELECT {1} FROM skua_records AS k CROSS JOIN LATERAL (\n"
        "  SELECT * FROM {{{2}}} AS t WHERE {3} OFFSET 0) AS t),\n"
        "skua_new AS MATERIALIZED (SELECT {4} FROM ({5}) AS q\n"
        "  WHERE (({6}) IN (SELECT {0} FROM skua_records)) IS TRUE",
        listed(record), listed(names_of(columns.columns), "t."), rows.table,
        equal(record, "t", "k"), cast(columns), select, listed(record, "q."));
    own_.statements.push_back({.part = part,
                               .suffix = fmt::format("fold{}", number),
                               .kind = Kind::Fold,
                               .sql = fold(rows, columns, compared)});
    own_.samples.push_back(sample(rows, columns, record, compared));
  }

  /// The statement of a batch. The rows of the records that changed are compared with the stored
  /// ones. PostgreSQL expects few rows in these parts, and a nested loop over two of them would
  /// take quadratic time. `IN (...) IS TRUE` is always executed with a hash table. The limit keeps
  /// a statement that multiplies rows from writing all of them: own_functions refuses the batch
  /// afterwards.
  std::string fold(const OwnRows& rows, const OwnColumns& columns,
                   const std::string& compared) const {
    const std::string names = listed(names_of(columns.columns));
    std::string sql = fmt::format(
        "WITH skua_keys AS MATERIALIZED (SELECT k.* FROM ({{skua touched}}) AS k {}),\n{}\n"
        "  LIMIT {}),\n"
        "skua_gone AS MATERIALIZED (TABLE skua_old EXCEPT ALL TABLE skua_new),\n"
        "skua_come AS MATERIALIZED (TABLE skua_new EXCEPT ALL TABLE skua_old),\n"
        "skua_deleted AS (DELETE FROM {{{}}} AS t USING skua_gone AS g WHERE {}\n"
        "  AND (({}) IN (SELECT {} FROM skua_come)) IS NOT TRUE)",
        lane_condition(), compared, own_.limits.rows + 1, rows.table, equal(columns.key, "t", "g"),
        listed(columns.key, "g."), listed(columns.key));
    std::size_t number = 0;
    for (const OwnRows& sum : own_.sums) {
      if (&rows_of(sum) != &rows) continue;
      sql += fmt::format(",\nskua_sum{} AS ({})", ++number, sum_of_difference(sum));
    }
    sql += fmt::format("\nINSERT INTO {{{}}} ({}) SELECT {} FROM skua_come ORDER BY {}", rows.table,
                       names, names, listed(columns.key));
    if (const auto values = columns.values(); !values.empty()) {
      std::vector<std::string> terms;
      terms.reserve(values.size());
      for (const OwnColumn& value : values) {
        terms.push_back(fmt::format("{0} = EXCLUDED.{0}", value.name));
      }
      sql += fmt::format("\nON CONFLICT ({}) DO UPDATE SET {}", listed(columns.key),
                         fmt::join(terms, ", "));
    }
    return sql;
  }

  /// Adds the sums of new rows to the table, and subtracts those of former ones.
  std::string sum_of_difference(const OwnRows& sum) const {
    const OwnColumns& columns = columns_of(sum.table);
    std::vector<std::string> added;
    std::vector<std::string> subtracted;
    std::vector<std::string> summed;
    std::vector<std::string> totals;
    std::vector<std::string> updated;
    for (const OwnColumn& value : columns.values()) {
      const std::string& name = value.name;
      added.push_back(fmt::format("coalesce(q.{0}, 0) AS {0}", name));
      subtracted.push_back(fmt::format("-coalesce(q.{0}, 0) AS {0}", name));
      summed.push_back(fmt::format("sum(d.{0}) AS {0}", name));
      totals.push_back(fmt::format("sum(d.{})", name));
      updated.push_back(fmt::format("{0} = t.{0} + EXCLUDED.{0}", name));
    }
    const std::string key = listed(columns.key);
    const auto over = [&](const char* rows, const std::vector<std::string>& values) {
      std::string select = sum.select;
      boost::replace_all(select, "{" + rows_of(sum).table + "}", rows);
      return fmt::format("SELECT {}, {} FROM ({}) AS q", listed(columns.key, "q."),
                         fmt::join(values, ", "), select);
    };
    std::vector<std::string> names = columns.key;
    for (const OwnColumn& value : columns.values()) names.push_back(value.name);
    return fmt::format(
        "INSERT INTO {{{}}} AS t ({})\n  SELECT {}, {} FROM (\n  {}\n  UNION ALL\n  {}) AS d\n"
        "  GROUP BY {} HAVING {} ORDER BY {}\n  ON CONFLICT ({}) DO UPDATE SET {}",
        sum.table, listed(names), listed(columns.key, "d."), fmt::join(summed, ", "),
        over("skua_come", added), over("skua_gone", subtracted), listed(columns.key, "d."),
        not_zero(totals), listed(columns.key, "d."), key, fmt::join(updated, ", "));
  }

  void add_sum_fill(const OwnRows& sum) {
    const OwnColumns& columns = columns_of(sum.table);
    std::vector<std::string> names = columns.key;
    std::vector<std::string> values;
    for (const OwnColumn& value : columns.values()) {
      names.push_back(value.name);
      values.push_back(fmt::format("coalesce(q.{}, 0)", value.name));
    }
    own_.statements.push_back(
        {.part = fmt::format("`-- sum: {}`", sum.table),
         .suffix = fmt::format("sum{}", own_.statements.size()),
         .kind = Kind::Fill,
         .sql = fmt::format("INSERT INTO {{{}}} ({}) SELECT {}, {} FROM ({}) AS q WHERE {} "
                            "ORDER BY {}",
                            sum.table, listed(names), listed(columns.key, "q."),
                            fmt::join(values, ", "), sum.select, not_zero(values),
                            listed(columns.key, "q."))});
  }

  /// The comparison of records that are chosen at random. $1 is their number.
  static std::string sample(const OwnRows& rows, const OwnColumns& columns,
                            const std::vector<std::string>& record, const std::string& compared) {
    const bool has_collection = record.size() > 2;
    const std::string names = listed(names_of(columns.columns));
    return fmt::format(
        "WITH skua_keys AS MATERIALIZED ({{skua some records}}\n"
        "UNION (SELECT t.actor_id, t.rkey, {0} FROM {{{1}}} AS t\n"
        "  WHERE t.actor_id >= {5}\n"
        "  ORDER BY {2} LIMIT $1)),\n{3})\n{4}",
        has_collection ? "t.collection_id" : "{skua collection}", rows.table,
        listed(columns.key, "t."), compared,
        own_differences(rows.table, fmt::format("SELECT {} FROM skua_new", names),
                        fmt::format("SELECT {} FROM skua_old", names)),
        kRandomAccountNumber);
  }

  Projection& projection_;
  OwnParts& own_;
  const std::map<std::string, OwnColumns>& columns_;
};

/// Takes the statements of a file with its own fill and fold.
void take_statements(Projection& projection) {
  OwnParts& own = *projection.own;
  if (!own.sums.empty()) refuse("`-- sum` needs `-- rows`");
  if (!own.collections.empty())
    refuse("`-- collections` is for `-- rows`: a fold names them itself");
  const auto add = [&](Kind kind, const std::vector<std::string>& texts, const char* name) {
    std::size_t number = 0;
    for (const std::string& sql : texts) {
      ++number;
      own.statements.push_back({.part = fmt::format("`-- {}`", name),
                                .suffix = fmt::format("{}{}", name, number),
                                .kind = kind,
                                .sql = sql});
    }
  };
  add(Kind::Fill, projection.fill, "fill");
  add(Kind::Fold, projection.fold, "fold");
  if (!projection.differences.empty()) {
    own.statements.push_back({.part = "`-- differences`",
                              .suffix = "differences",
                              .kind = Kind::Differences,
                              .sql = projection.differences});
  }
}

/// Says how a query database shows the tables.
void show_on_nodes(OwnParts& own, const std::map<std::string, OwnColumns>& columns) {
  for (OwnTable& table : own.tables) {
    if (own.rows.empty()) {
      const auto stated = own.on_nodes.find(table.name);
      if (stated != own.on_nodes.end()) table.on_nodes = stated->second;
      if (table.on_nodes == OnNodes::Sums) check_sums(table.name, columns.at(table.name));
    } else {
      const bool is_sum =
          std::ranges::find(own.sums, table.name, &OwnRows::table) != own.sums.end();
      table.on_nodes = is_sum ? OnNodes::Sums : OnNodes::Rows;
    }
  }
}

void check_names(const Projection& projection) {
  if (!is_own_name(projection.name)) {
    refuse(
        fmt::format("`-- projection: {}`: a name has a-z, 0-9 and _, begins with a letter, has "
                    "at most 40 characters, and does not end in _ and a number",
                    projection.name));
  }
  if (projection.help.empty()) refuse("`-- help: ONE SENTENCE` is missing");
  for (const ProjectionTable& table : projection.tables) {
    constexpr std::string_view kReserved[] = {"keys", "consumer"};
    if (!is_own_name(table.name) ||
        std::ranges::find(kReserved, table.name) != std::end(kReserved)) {
      refuse(
          fmt::format("`-- table: {}`: a name has a-z, 0-9 and _, begins with a letter, has at "
                      "most 40 characters, does not end in _ and a number, and is not `keys` or "
                      "`consumer`",
                      table.name));
    }
    if (std::ranges::count(projection.tables, table.name, &ProjectionTable::name) > 1) {
      refuse(fmt::format("two tables have the name {}", table.name));
    }
  }
  for (const std::string& nsid : projection.own->collections) {
    if (!atproto::is_nsid(nsid)) {
      refuse(
          fmt::format("`-- collections`: '{}' is not a collection; an example is "
                      "app.bsky.feed.post",
                      nsid));
    }
  }
  if (!projection.drain.empty() || !projection.waiting_pos.empty() || !projection.publish.empty() ||
      !projection.depends_on.empty()) {
    refuse(
        "`-- drain`, `-- waiting`, `-- publish` and `-- depends on` are for built-in projections");
  }
}

/// Replaces the statements by calls of their functions.
void call_functions(Projection& projection) {
  projection.fill.clear();
  projection.fold.clear();
  for (const OwnStatement& statement : projection.own->statements) {
    const std::string function =
        fmt::format("projections.{}_{}_{{consumer}}", projection.name, statement.suffix);
    if (statement.kind == Kind::Fill) {
      projection.fill.push_back(fmt::format("SELECT {}()", function));
    } else if (statement.kind == Kind::Fold) {
      projection.fold.push_back(fmt::format("SELECT {}($1::int8, $2::int8, {})", function,
                                            projection.has_lanes ? "$3::int4, $4::int4" : "0, 1"));
    }
  }
  projection.differences =
      fmt::format("SELECT * FROM projections.{}_{}_{{consumer}}($1::int4) LIMIT 10",
                  projection.name, projection.own->compares_with_fill ? "verify" : "differences");
}

}  // namespace

Projection read_own_projection(std::string_view text) {
  if (text.size() > kLargestOwnFile) {
    refuse(fmt::format("the file has more than {} bytes", kLargestOwnFile));
  }
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
    refuse("the file is not text in UTF-8");
  }
  Projection projection = parse_own_projection(text);
  OwnParts& own = *projection.own;
  own.sha256 = hex_text(atproto::sha256(as_bytes(text)));
  check_names(projection);
  std::map<std::string, OwnColumns> columns;
  for (ProjectionTable& table : projection.tables) {
    OwnColumns read = read_own_columns(table);
    for (const std::string& index : table.indexes) check_own_index(table, read, index);
    table.definition = read.definition();
    const auto is_sum = std::ranges::find(own.sums, table.name, &OwnRows::table) != own.sums.end();
    std::vector<std::string> values;
    for (const OwnColumn& value : read.values()) values.push_back(value.name);
    own.tables.push_back({.name = table.name,
                          .columns = listed(names_of(read.columns)),
                          .condition = is_sum && !values.empty() ? not_zero(values) : "true",
                          .types = read.with_types(),
                          .key = read.key,
                          .is_internal = table.is_internal});
    columns.emplace(table.name, std::move(read));
  }
  own.compares_with_fill = projection.differences.empty();
  if (own.rows.empty()) {
    take_statements(projection);
  } else {
    Derivation(projection, columns).run();
  }
  show_on_nodes(own, columns);
  call_functions(projection);
  return projection;
}

}  // namespace skua::consumers
