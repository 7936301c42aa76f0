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

/// What the database has of a source.
struct SourceFound {
  /// Such as `relay:relay.example`.
  std::string name;
  std::optional<std::int64_t> cursor = std::nullopt;
  /// Since it was saved, by the server's clock.
  std::optional<std::chrono::seconds> cursor_age = std::nullopt;
  /// The session that reads the source now; nothing: none does.
  std::optional<std::string> owner = std::nullopt;
  /// Of the last metrics.
  std::optional<std::chrono::seconds> metrics_age = std::nullopt;
  /// See status::saved_lag.
  std::optional<status::Seconds> lag = std::nullopt;
};

/// All sources of the database. Throws postgres::SqlError.
std::vector<SourceFound> read_sources_found(postgres::Session& session);

/// How current the identities that `skua identity import` has stored are: the age of
/// `skua.plc_cursor`, and the session that follows the directory.
struct PlcCursorFound {
  std::chrono::seconds age{0};
  std::optional<std::string> owner = std::nullopt;
};

/// Nothing: there was no import, and no tail. Throws postgres::SqlError.
std::optional<PlcCursorFound> read_plc_cursor_found(postgres::Session& session);

/// Pure. Nothing to report without a cursor.
Findings judge_plc_cursor(const std::optional<PlcCursorFound>& cursor);

/// Pure.
Findings judge_sources(const std::vector<SourceFound>& sources);

}  // namespace skua::doctor
