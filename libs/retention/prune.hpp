#pragma once

#include <cstddef>

#include "store/filter_table.hpp"
#include "store/session.hpp"

namespace skua::retention {

/// Removes the records of accounts and collections that the filter leaves out, from every table,
/// with an entry in the change log for each. Labels stay. Transactions of a few thousand rows;
/// after an interruption a new call continues with what is left. Returns the number of rows.
/// Outside a transaction. Throws store::SqlError.
std::size_t prune(store::Session& session, const store::Filter& filter);

}  // namespace skua::retention
