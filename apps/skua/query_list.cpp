#include "query_list.hpp"

#include <algorithm>
#include <cstddef>

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

/// Replaces each :'argument' by a parameter, and notes the argument.
void append_with_parameters(NamedQuery& query, std::string_view line) {
  for (;;) {
    const std::size_t start = line.find(":'");
    const std::size_t end = start == line.npos ? line.npos : line.find('\'', start + 2);
    if (end == line.npos) break;
    const std::string argument(line.substr(start + 2, end - start - 2));
    auto found = std::find(query.arguments.begin(), query.arguments.end(), argument);
    if (found == query.arguments.end()) found = query.arguments.insert(found, argument);
    query.sql +=
        fmt::format("{}${}::text", line.substr(0, start), found - query.arguments.begin() + 1);
    line.remove_prefix(end + 1);
  }
  query.sql += fmt::format("{}\n", line);
}

/// The query of a block: its first line is the name.
void read_block(NamedQuery& query, std::string_view& document) {
  while (!document.empty()) {
    std::string_view line = take_line(document);
    if (line == "```") break;
    if (query.name.empty() && take_prefix(line, "-- ")) {
      query.name = line;
    } else {
      append_with_parameters(query, line);
    }
  }
  query.sql.erase(query.sql.find_last_not_of(";\n") + 1);
}

}  // namespace

std::vector<NamedQuery> parse_queries(std::string_view document) {
  std::vector<NamedQuery> queries;
  std::string group;
  std::string title;
  while (!document.empty()) {
    std::string_view line = take_line(document);
    if (take_prefix(line, "## ")) {
      group = line;
    } else if (take_prefix(line, "### ")) {
      title = line;
    } else if (line == "```sql") {
      NamedQuery query{.name = {}, .group = group, .title = title, .arguments = {}, .sql = {}};
      read_block(query, document);
      queries.push_back(std::move(query));
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
