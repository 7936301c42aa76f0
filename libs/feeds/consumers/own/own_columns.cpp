#include "consumers/own/own_columns.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace skua::consumers {
namespace {

/// The expressions below are applied to texts of at most this length, because std::regex needs
/// stack for each character.
constexpr std::size_t kLongestElement = 300;
constexpr std::size_t kMostColumns = 200;

const std::set<std::string, std::less<>>& known_types() {
  static const std::set<std::string, std::less<>> kTypes = {"smallint",
                                                            "int2",
                                                            "integer",
                                                            "int",
                                                            "int4",
                                                            "bigint",
                                                            "int8",
                                                            "numeric",
                                                            "decimal",
                                                            "real",
                                                            "float4",
                                                            "float8",
                                                            "double precision",
                                                            "boolean",
                                                            "bool",
                                                            "text",
                                                            "varchar",
                                                            "character varying",
                                                            "date",
                                                            "time",
                                                            "timestamp",
                                                            "timestamptz",
                                                            "timestamp with time zone",
                                                            "timestamp without time zone",
                                                            "interval",
                                                            "bytea",
                                                            "jsonb",
                                                            "uuid",
                                                            "inet"};
  return kTypes;
}

/// Returns the parts of a list between commas outside of parentheses.
std::vector<std::string> elements_of(std::string_view list) {
  std::vector<std::string> elements(1);
  int depth = 0;
  for (const char c : list) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth < 0) throw std::invalid_argument("a parenthesis that nothing opened");
    if (c == ',' && depth == 0) {
      elements.emplace_back();
    } else {
      elements.back() += c == '\n' || c == '\t' || c == '\r' ? ' ' : c;
    }
  }
  for (std::string& element : elements) element = std::string(trimmed(element));
  return elements;
}

/// Returns `text` with single blanks, in lower case.
std::string normal(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ' ' && (result.empty() || result.back() == ' ')) continue;
    result += ascii_lower(c);
  }
  return std::string(trimmed(result));
}

OwnColumn column_of(const std::string& element) {
  static const std::regex kColumn(
      R"(([a-z][a-z0-9_]*) ([a-z][a-z0-9 ]*?)( ?\([0-9]+( ?, ?[0-9]+)?\))?(\[\])?( not null| null)?( primary key)?)");
  std::smatch match;
  const std::string text = normal(element);
  if (element.size() > kLongestElement || !std::regex_match(text, match, kColumn) ||
      !known_types().contains(match[2].str()) || !element.starts_with(match[1].str())) {
    throw std::invalid_argument(fmt::format(
        "`{}` is not a column: give a name in lower case, a type of PostgreSQL such as text, int8 "
        "or timestamptz, and NOT NULL; and PRIMARY KEY (COLUMNS) at the end",
        element.substr(0, kLongestElement)));
  }
  return {.name = match[1],
          .type = match[2].str() + match[3].str() + match[5].str(),
          .is_nullable = match[6].str() != " not null" && match[7].length() == 0};
}

}  // namespace

bool OwnColumns::has(std::string_view name) const {
  return find(name) != nullptr;
}

const OwnColumn* OwnColumns::find(std::string_view name) const {
  const auto found = std::ranges::find(columns, name, &OwnColumn::name);
  return found == columns.end() ? nullptr : &*found;
}

bool OwnColumns::is_key(std::string_view name) const {
  return std::ranges::find(key, name) != key.end();
}

std::vector<OwnColumn> OwnColumns::values() const {
  std::vector<OwnColumn> values;
  for (const OwnColumn& column : columns) {
    if (!is_key(column.name)) values.push_back(column);
  }
  return values;
}

std::string OwnColumns::definition() const {
  std::string text;
  for (const OwnColumn& column : columns) {
    text +=
        fmt::format("{} {}{}, ", column.name, column.type, column.is_nullable ? "" : " NOT NULL");
  }
  return text + fmt::format("PRIMARY KEY ({})", fmt::join(key, ", "));
}

std::string OwnColumns::with_types() const {
  std::vector<std::string> terms;
  terms.reserve(columns.size());
  for (const OwnColumn& column : columns) {
    terms.push_back(fmt::format("{} {}", column.name, column.type));
  }
  return fmt::format("{}", fmt::join(terms, ", "));
}

OwnColumns read_own_columns(const ProjectionTable& table) {
  OwnColumns read;
  try {
    const std::string primary_key = "primary key";
    for (const std::string& element : elements_of(table.definition)) {
      const std::string text = normal(element);
      if (text.starts_with(primary_key)) {
        const std::string_view list = trimmed(std::string_view(text).substr(primary_key.size()));
        if (!read.key.empty() || !list.starts_with('(') || !list.ends_with(')')) {
          throw std::invalid_argument("write one `PRIMARY KEY (COLUMNS)`");
        }
        read.key = elements_of(list.substr(1, list.size() - 2));
        continue;
      }
      OwnColumn column = column_of(element);
      if (read.has(column.name)) {
        throw std::invalid_argument(fmt::format("a second column {}", column.name));
      }
      if (normal(element).ends_with(" " + primary_key)) read.key = {column.name};
      read.columns.push_back(std::move(column));
    }
    if (read.columns.size() > kMostColumns) {
      throw std::invalid_argument(fmt::format("more than {} columns", kMostColumns));
    }
    if (read.key.empty()) throw std::invalid_argument("it needs a PRIMARY KEY");
    for (const std::string& name : read.key) {
      if (!read.has(name)) {
        throw std::invalid_argument(fmt::format("the key has the unknown column {}", name));
      }
    }
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("table {}: {}", table.name, error.what()));
  }
  return read;
}

void check_own_index(const ProjectionTable& table, const OwnColumns& columns,
                     const std::string& index) {
  const std::string text = normal(index);
  bool is_valid = text.size() > 2 && text.starts_with('(') && text.ends_with(')');
  if (is_valid) {
    for (std::string element : elements_of(text.substr(1, text.size() - 2))) {
      for (const std::string_view order : {" desc", " asc"}) {
        if (element.ends_with(order)) element.resize(element.size() - order.size());
      }
      is_valid = is_valid && columns.has(element);
    }
  }
  if (!is_valid) {
    throw std::invalid_argument(fmt::format(
        "table {}: `-- index: {}` is not a list of its columns such as (lang, posts DESC)",
        table.name, index));
  }
}

bool is_own_name(std::string_view name) {
  constexpr std::size_t kLongest = 40;
  if (name.empty() || name.size() > kLongest || name[0] < 'a' || name[0] > 'z') return false;
  if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string_view::npos) {
    return false;
  }
  const std::size_t end = name.find_last_not_of("0123456789");
  return end + 1 == name.size() || name[end] != '_';
}

bool is_exact_number(std::string_view type) {
  constexpr std::string_view kTypes[] = {"smallint", "int2",   "integer", "int",
                                         "int4",     "bigint", "int8",    "numeric"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

}  // namespace skua::consumers
