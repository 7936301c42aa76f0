#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "postgres/session.hpp"
#include "tables/source_table.hpp"

namespace skua::status {

// The lag of a source is that of `lag_of` (metrics.hpp), which the process that reads the source
// computes. Pages and metrics of the process show it. Other processes read it from skua.metrics,
// where it was saved ten seconds ago at most.

using Seconds = std::chrono::duration<double>;

/// Metrics that are older than that were not saved when they should have been.
inline constexpr std::chrono::minutes kOldMetrics{2};

/// The lag that the process saved. Nothing: no process reads the source (`is_read`), it has saved
/// nothing for two minutes, or it has seen no event. Pure.
std::optional<Seconds> saved_lag(const tables::StoredSource& source, bool is_read);

/// `8.4 s`, from two minutes on `12 min`.
std::string lag_text(Seconds lag);

/// Reads the sources of a database, as an array: name, kind, cursor, when it was saved, lag
/// (see reports.hpp), age of the event at the cursor, the process that reads the source, and
/// its last metrics. Throws postgres::SqlError.
nlohmann::json read_source_list(postgres::Session& session);

/// The same for people: a line for each source, without the metrics.
std::string source_list_text(const nlohmann::json& sources);

/// Reads the state of one account's repository: state, head, breaks, resyncs, its job, its rows by
/// collection, and the hosting status. Reads the keys of all its rows. Null: the account is not
/// known. Throws postgres::SqlError.
nlohmann::json read_repository_info(postgres::Session& session, const std::string& did);

/// The same for people, some lines. `info`: not null.
std::string repository_info_text(const nlohmann::json& info);

/// Reads the state of a database: sources with cursor, lag and process, tables with estimated rows
/// and bytes, accounts and repositories by state, dead letters
/// by reason, consumers and the change log, backfills. Scans small tables only. Throws
/// postgres::SqlError.
nlohmann::json read_status(const std::string& database_url, const Clock& clock);

/// The same for people.
std::string status_text(const nlohmann::json& status);

}  // namespace skua::status
