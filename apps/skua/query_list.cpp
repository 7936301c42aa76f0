#include "query_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>

#include <fmt/format.h>

#include "query_statement.hpp"

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

}  // namespace skua::cli
