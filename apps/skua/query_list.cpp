#include "query_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>

#include <fmt/format.h>

namespace skua::cli {
namespace {

bool take_prefix(std::string_view& line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  line.remove_prefix(prefix.size());
  return true;
}

/// Removes the first line of `text` and returns it without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// A need after `-- needs `.
QueryNeed parse_need(std::string_view text) {
  using Kind = QueryNeed::Kind;
  constexpr std::string_view kEffect = "; without ";
  std::string_view name = text.substr(0, text.find(kEffect));
  std::string_view without = text.substr(name.size());
  if (!take_prefix(without, kEffect) || without.find(", ") == without.npos) {
    throw std::invalid_argument(fmt::format("a need without an effect: {}", text));
  }
  without.remove_prefix(without.find(", ") + 2);
  if (name == "labels") return {Kind::Labels, "", std::string(without)};
  if (take_prefix(name, "projection ")) {
    return {Kind::Projection, std::string(name), std::string(without)};
  }
  if (take_prefix(name, "index ")) return {Kind::Index, std::string(name), std::string(without)};
  throw std::invalid_argument(fmt::format("an unknown need: {}", text));
}

/// The query of a block: its first line is the name.
void read_block(NamedQuery& query, std::string_view& document) {
  while (!document.empty()) {
    std::string_view line = take_line(document);
    if (line == "```") break;
    if (query.name.empty() && take_prefix(line, "-- ")) {
      query.name = line;
    } else if (query.statement.empty() && take_prefix(line, "-- needs ")) {
      query.needs.push_back(parse_need(line));
    } else {
      query.statement += fmt::format("{}\n", line);
    }
  }
  query.statement.erase(query.statement.find_last_not_of(";\n") + 1);
  for (const StatementPart& part : parts_of(query.statement)) {
    if (part.kind == StatementPart::Kind::Limit) {
      std::int64_t limit = 0;
      std::from_chars(part.text.data(), part.text.data() + part.text.size(), limit);
      query.limit = limit;
    } else if (part.kind == StatementPart::Kind::Argument &&
               std::find(query.arguments.begin(), query.arguments.end(), part.text) ==
                   query.arguments.end()) {
      query.arguments.emplace_back(part.text);
    }
  }
}

}  // namespace

std::vector<NamedQuery> parse_queries(std::string_view document) {
  std::vector<NamedQuery> queries;
  NamedQuery next;
  while (!document.empty()) {
    std::string_view line = take_line(document);
    if (take_prefix(line, "## ")) {
      next.group = line;
    } else if (take_prefix(line, "### ")) {
      next.title = line;
      next.description.clear();
    } else if (line == "```sql") {
      NamedQuery query = next;
      read_block(query, document);
      queries.push_back(std::move(query));
    } else if (!line.empty()) {
      next.description += fmt::format("{}{}", next.description.empty() ? "" : " ", line);
    }
  }
  return queries;
}

const std::vector<NamedQuery>& named_queries() {
  static const std::vector<NamedQuery> queries = parse_queries(queries_document());
  return queries;
}

const NamedQuery* find_query(std::string_view name) {
  const auto& queries = named_queries();
  const auto found = std::find_if(queries.begin(), queries.end(),
                                  [name](const NamedQuery& query) { return query.name == name; });
  return found == queries.end() ? nullptr : &*found;
}

namespace {

constexpr std::string_view kArgumentMark = ":'";
constexpr std::string_view kLimitMark = "/*limit*/ ";
constexpr std::string_view kDigits = "0123456789";

/// The statement, with `argument(i)` as its argument number i.
template <class Argument>
std::string filled_statement(const NamedQuery& query, std::optional<std::int64_t> limit,
                             Argument argument) {
  std::string sql;
  for (const StatementPart& part : parts_of(query.statement)) {
    switch (part.kind) {
      case StatementPart::Kind::Text:
        sql += part.text;
        break;
      case StatementPart::Kind::Argument: {
        const auto place = std::find(query.arguments.begin(), query.arguments.end(), part.text);
        sql += argument(static_cast<std::size_t>(place - query.arguments.begin()));
        break;
      }
      case StatementPart::Kind::Limit:
        sql += limit ? fmt::format("{}", *limit) : "null";
    }
  }
  if (!query.limit && limit) sql += fmt::format("\nlimit {}", *limit);
  return sql;
}

std::string literal(std::string_view value) {
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

/// The name of a column by its expression: the last word.
std::string column_name(std::string_view expression) {
  const std::size_t end = expression.find_last_not_of(" \n") + 1;
  const std::size_t before = expression.find_last_of(" .\n", end - 1);
  const std::size_t begin = before == expression.npos ? 0 : before + 1;
  return std::string(expression.substr(begin, end - begin));
}

}  // namespace

std::vector<StatementPart> parts_of(std::string_view statement) {
  std::vector<StatementPart> parts;
  while (!statement.empty()) {
    const std::size_t argument = statement.find(kArgumentMark);
    const std::size_t limit = statement.find(kLimitMark);
    const std::size_t text = std::min({argument, limit, statement.size()});
    if (text > 0) parts.push_back({StatementPart::Kind::Text, statement.substr(0, text)});
    statement.remove_prefix(text);
    if (text == argument) {
      statement.remove_prefix(kArgumentMark.size());
      const std::size_t end = statement.find('\'');
      parts.push_back({StatementPart::Kind::Argument, statement.substr(0, end)});
      statement.remove_prefix(std::min(end, statement.size() - 1) + 1);
    } else if (text == limit) {
      statement.remove_prefix(kLimitMark.size());
      const std::size_t end = std::min(statement.find_first_not_of(kDigits), statement.size());
      parts.push_back({StatementPart::Kind::Limit, statement.substr(0, end)});
      statement.remove_prefix(end);
    }
  }
  return parts;
}

std::string statement_with_parameters(const NamedQuery& query, std::optional<std::int64_t> limit) {
  return filled_statement(query, limit,
                          [](std::size_t i) { return fmt::format("${}::text", i + 1); });
}

std::string statement_with_values(const NamedQuery& query, const std::vector<std::string>& values,
                                  std::optional<std::int64_t> limit) {
  return filled_statement(query, limit, [&](std::size_t i) { return literal(values.at(i)); }) +
         ";\n";
}

std::vector<std::string> columns_of(std::string_view statement) {
  constexpr std::string_view kSelect = "select ";
  constexpr std::string_view kDistinct = "distinct ";
  statement.remove_prefix(std::min(statement.find(kSelect) + kSelect.size(), statement.size()));
  if (statement.starts_with(kDistinct)) statement.remove_prefix(kDistinct.size());
  std::vector<std::string> columns;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= statement.size(); ++i) {
    const std::string_view rest = statement.substr(i);
    const bool is_end =
        depth == 0 && (rest.empty() || rest.starts_with(" from ") || rest.starts_with("\nfrom "));
    if (is_end || (depth == 0 && rest.front() == ',')) {
      columns.push_back(column_name(statement.substr(begin, i - begin)));
      begin = i + 1;
    }
    if (is_end) break;
    if (rest.front() == '(') ++depth;
    if (rest.front() == ')') --depth;
  }
  return columns;
}

}  // namespace skua::cli
