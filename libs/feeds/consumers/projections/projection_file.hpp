#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "consumers/projections/projection.hpp"

namespace skua::consumers {

/// Returns the text of a file that a projection includes by its name. Throws std::invalid_argument
/// if there is none.
using IncludedFile = std::function<std::string_view(std::string_view name)>;

/// Reads a projection from a file of SQL with these lines, each of which begins a part:
///
///   -- projection: NAME             -- version: NUMBER (1)      -- help: ONE SENTENCE
///   -- lanes: several               -- depends on: NAME, NAME
///   -- table: NAME                  the columns, as in CREATE TABLE; the first one is the main
///   table
///   -- internal table: NAME         the same, without a view
///   -- index: (COLUMNS)             of the table above
///   -- view                         the views without rows, with their comments, up to an empty
///   line;
///                                   `skua migrate` applies this part
///   -- include: FILE                the parts of another file, in which PROJECTION is the name
///   -- fragment: NAME               a text that other parts contain as {{NAME}}, also before it
///   -- fill, -- fold, -- drain, -- waiting, -- publish, -- differences
///                                   the statements of Projection
///
/// Other lines that begin with `--` are comments. Throws std::invalid_argument with the line of a
/// mistake: SQL outside of a part, an unknown fragment, or a missing part.
Projection parse_projection(std::string_view text, const IncludedFile& included);

/// Reads the file of a user, which has no `-- include:` and may have these parts, too:
///
///   -- collections: NSID, NSID      the collections of the records in {keys}
///   -- rows: TABLE                  a SELECT over {keys} that gives the rows of the records
///   -- sum: TABLE                   a SELECT over {TABLE of rows}, grouped by the key of the table
///   -- nodes: rows|sums             how a query database shows the table above
///   -- batch seconds: NUMBER        -- batch rows: NUMBER       -- build seconds: NUMBER
///
/// Only reads the parts: own_projection.hpp checks them and makes the statements. Throws
/// std::invalid_argument.
Projection parse_own_projection(std::string_view text);

}  // namespace skua::consumers
