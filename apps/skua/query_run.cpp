#include "query_run.hpp"

#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "postgres/query_database.hpp"
#include "result_text.hpp"

namespace skua::cli {

Execution execution_of(const NamedQuery& query, const std::vector<std::string>& values,
                       std::optional<std::int64_t> limit, const QueryOptions& options,
                       bool is_query_database) {
  const std::string sql = statement_with_parameters(query, limit.has_value(), options);
  Execution execution{query,
                      {},
                      "query_" + query.name,
                      is_query_database ? postgres::for_query_database(sql) : sql};
  for (const std::string& value : values) execution.params.text(value);
  for (const auto& [name, value] : options) {
    execution.params.text(value);
    execution.name += "_" + name;
  }
  if (limit) {
    execution.params.int4(static_cast<std::int32_t>(*limit + 1));
    execution.name += "_limit";
  }
  return execution;
}

postgres::Rows rows_of(postgres::Session& session, const Execution& execution, bool as_json) {
  return session.execute(
      {execution.name,
       as_json ? fmt::format("SELECT row_to_json(q)::text FROM (\n{}\n) AS q", execution.sql)
               : execution.sql},
      execution.params);
}

QueryOptions options_after(const NamedQuery& query, const QueryOptions& options,
                           const postgres::Rows& rows, std::size_t row, bool are_json) {
  if (are_json) {
    const auto values = nlohmann::json::parse(rows.text(row, 0));
    return options_after(query, options, [&values](std::string_view column) {
      const auto& value = values.at(std::string(column));
      return value.is_string() ? value.get<std::string>() : value.dump();
    });
  }
  return options_after(query, options, [&rows, row](std::string_view column) {
    for (std::size_t i = 0; i < rows.columns(); ++i) {
      if (rows.column_name(i) == column) return rfc3339(rows.text(row, i));
    }
    throw std::logic_error(fmt::format("a query with pages has no column {}", column));
  });
}

std::string json_text(const postgres::Rows& rows, std::size_t count, bool has_more,
                      const std::vector<QueryNote>& notes, const QueryOptions& next) {
  nlohmann::ordered_json result{{"rows", nlohmann::ordered_json::array()},
                                {"more", has_more},
                                {"notes", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < count; ++i) {
    result["rows"].push_back(nlohmann::ordered_json::parse(rows.text(i, 0)));
  }
  for (const QueryNote& note : notes) {
    result["notes"].push_back({{"text", note.text}, {"commands", note.commands}});
  }
  if (!next.empty()) result["next"] = next;
  return result.dump(2, ' ', true) + "\n";
}

void append(std::vector<QueryNote>& notes, std::vector<QueryNote> more) {
  notes.insert(notes.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

}  // namespace skua::cli
