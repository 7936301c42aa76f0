#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/metric.hpp"
#include "postgres/session.hpp"

namespace skua::status {

using StandbyLag = std::optional<std::chrono::milliseconds>;

/// Returns the metrics of a server: the lag if it is a standby, otherwise nothing.
std::vector<MetricValue> values_of_standby(StandbyLag lag);

/// Reads `lag_seconds` of a standby; null if the server is a primary. Throws postgres::SqlError.
nlohmann::json read_standby_status(postgres::Session& session);

/// Returns a part of `skua status`; empty for a primary (null).
std::string standby_status_text(const nlohmann::json& standby);

/// Returns a text such as `this standby is 12 s behind its primary`.
std::string standby_text(std::chrono::milliseconds lag);

}  // namespace skua::status
