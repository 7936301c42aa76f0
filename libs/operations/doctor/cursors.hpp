#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.hpp"
#include "postgres/session.hpp"
#include "status/reports.hpp"

namespace skua::doctor {

/// The state of a source in the database.
struct SourceFound {
  /// The name of the source, such as `relay:relay.example`.
  std::string name;
  std::optional<std::int64_t> cursor = std::nullopt;
  /// The time since the cursor was saved, by the server's clock.
  std::optional<std::chrono::seconds> cursor_age = std::nullopt;
  /// The session that reads the source now; nothing if none does.
  std::optional<std::string> owner = std::nullopt;
  /// The age of the latest saved metrics.
  std::optional<std::chrono::seconds> metrics_age = std::nullopt;
  /// The lag as status::saved_lag returns it.
  std::optional<status::Seconds> lag = std::nullopt;
};

/// Reads all sources of the database. Throws postgres::SqlError.
std::vector<SourceFound> read_sources_found(postgres::Session& session);

/// The age of the identities that `skua identity import` has stored: the age of `skua.plc_cursor`,
/// and the session that follows the directory.
struct PlcCursorFound {
  std::chrono::seconds age{0};
  std::optional<std::string> owner = std::nullopt;
};

/// Returns nothing if there was no import and no tail. Throws postgres::SqlError.
std::optional<PlcCursorFound> read_plc_cursor_found(postgres::Session& session);

/// Returns no findings if there is no cursor. Pure.
Findings judge_plc_cursor(const std::optional<PlcCursorFound>& cursor);

/// Pure.
Findings judge_sources(const std::vector<SourceFound>& sources);

}  // namespace skua::doctor
