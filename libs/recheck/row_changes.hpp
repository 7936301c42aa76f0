#pragma once

#include <cstddef>
#include <vector>

#include "recheck/verdict.hpp"
#include "store/session.hpp"
#include "writer/effects.hpp"
#include "writer/table_writer.hpp"

namespace skua::recheck {

/// Gives rows of a table their verdicts, with the locks of their accounts, for which it waits:
/// moves each to the table of its record, or sets its `invalid_reason`. Rows whose revision has
/// changed since they were read stay. The events are resolved. In the caller's transaction. Returns
/// the number of changed rows. Throws store::SqlError.
std::size_t change_rows(store::Session& session, const writer::TableWriter& table,
                        std::vector<Verdict>& verdicts, writer::Effects& effects);

}  // namespace skua::recheck
