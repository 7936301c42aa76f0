#include "query_statement.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "query_list.hpp"

namespace skua::cli {
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
