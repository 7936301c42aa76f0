#pragma once

#include <string>

#include "store/rows.hpp"

namespace skua::cli {

// The result of a query as text, for `skua query`.

/// A table with aligned columns and a line with the number of rows. Long values are cut. Values
/// come from the network: the table is safe for a terminal.
std::string result_table(const store::Rows& rows);

/// CSV of RFC 4180 with a header, and LF as the end of a line. Null is an empty field. Values are
/// unchanged.
std::string result_csv(const store::Rows& rows);

}  // namespace skua::cli
