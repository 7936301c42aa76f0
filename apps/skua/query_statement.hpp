#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::cli {

struct NamedQuery;

/// A part of a statement of docs/queries.md. Views into the statement.
struct StatementPart {
  enum class Kind : std::uint8_t {
    Text,
    /// `:'account'`: `text` is the name.
    Argument,
    /// `/*limit*/ 50`: `text` is the number.
    Limit
  };
  Kind kind = Kind::Text;
  std::string_view text;
};
std::vector<StatementPart> parts_of(std::string_view statement);

/// The statement with the parameters $1, $2... of type text as its arguments. It returns at most
/// `limit` rows; nothing: all.
std::string statement_with_parameters(const NamedQuery& query, std::optional<std::int64_t> limit);

/// The same with the values of the arguments as literals, for psql: with a semicolon.
std::string statement_with_values(const NamedQuery& query, const std::vector<std::string>& values,
                                  std::optional<std::int64_t> limit);

/// The names of the columns of the result, as the select list of the statement gives them.
std::vector<std::string> columns_of(std::string_view statement);

}  // namespace skua::cli
