#pragma once

#include <optional>
#include <string>

#include "postgres/session.hpp"

namespace skua::postgres {

/// Returns why a program cannot write the tables of the schema `bsky`: a table is partitioned, has
/// or is a child of another table, is a foreign table, or is distributed by Citus. The writer, the
/// retention and the checks of rows read such tables by their blocks (`ctid`) and sizes, which then
/// leave out rows without an error. Returns nothing if all are plain tables. Throws SqlError.
std::optional<std::string> table_layout_problem(Session& session);

}  // namespace skua::postgres
