#pragma once

#include <cstddef>
#include <string_view>

#include "consumers/projections/projection.hpp"

namespace skua::consumers {

/// The largest file of a projection, in bytes.
inline constexpr std::size_t kLargestOwnFile = 262'144;

/// Reads a projection from the file of a user, which may be hostile, and derives its statements.
/// Checks everything that needs no database. Throws std::invalid_argument with the reason. Pure.
///
/// `-- rows: TABLE` has one SELECT, which gives the rows of the records in {keys}. A build applies
/// it to all records of the collections. A batch applies it to the records that changed, compares
/// the result with the stored rows of these records, and writes the differences. `-- sum: TABLE`
/// counts over such a table: a batch adds the sums of the rows that it adds, and subtracts the sums
/// of the rows that it removes. A row whose sums are all 0 is not shown, as if it did not exist.
Projection read_own_projection(std::string_view text);

}  // namespace skua::consumers
