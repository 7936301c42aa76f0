#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "postgres/session.hpp"
#include "tables/source_table.hpp"

namespace skua::status {

// The lag of a source is computed by `lag_of` (metrics.hpp) in the process that reads the source.
// Pages and metrics of this process show it. Other processes read it from skua.metrics, where it
// was saved at most ten seconds ago.

using Seconds = std::chrono::duration<double>;

/// Metrics that are older than this were not saved in time.
inline constexpr std::chrono::minutes kOldMetrics{2};

/// Returns the lag that the process saved. Returns nothing if no process reads the source
/// (`is_read`), it has saved nothing for two minutes, or it has seen no event. Pure.
std::optional<Seconds> saved_lag(const tables::StoredSource& source, bool is_read);

/// Returns a text such as `8.4 s`, or `12 min` from two minutes on.
std::string lag_text(Seconds lag);

/// Reads the sources of a database as an array. Each has a name, a kind, a cursor, the time at
/// which the cursor was saved, the lag (see above), and the age of the event at the cursor. It also
/// has the process that reads the source, and its last metrics. Throws postgres::SqlError.
nlohmann::json read_source_list(postgres::Session& session);

/// Returns the sources as a text for people: a line for each source, without the metrics.
std::string source_list_text(const nlohmann::json& sources);

/// Reads the state of one account's repository: state, head, breaks, resyncs, its job, its rows by
/// collection, and the hosting status. Reads the keys of all its rows. Returns null if the account
/// is unknown. Throws postgres::SqlError.
nlohmann::json read_repository_info(postgres::Session& session, const std::string& did);

/// Returns the state of a repository as some lines for people. `info` must not be null.
std::string repository_info_text(const nlohmann::json& info);

/// Reads the state of a database: sources with cursor, lag and process, tables with estimated rows
/// and bytes, and accounts and repositories by state. It also has the dead letters by reason, the
/// consumers and the change log, and the backfills. Scans small tables only. Throws
/// postgres::SqlError.
nlohmann::json read_status(const std::string& database_url, const Clock& clock);

/// Returns the state of a database as a text for people.
std::string status_text(const nlohmann::json& status);

}  // namespace skua::status
