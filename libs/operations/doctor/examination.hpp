#pragma once

#include <optional>
#include <vector>

#include "base/time.hpp"
#include "doctor/database_checks.hpp"
#include "doctor/finding.hpp"
#include "doctor/network.hpp"
#include "doctor/server.hpp"
#include "transport/http_client.hpp"

namespace skua::doctor {

/// The subjects that `skua doctor` examines.
struct Examination {
  /// The database; nothing if no setting names one.
  std::optional<DatabaseOptions> database;
  /// The sources of the settings, and the PLC directory.
  std::vector<NetworkTarget> targets;
  transport::HttpClientOptions http;
  SettingsFound settings;
  /// True for a query database, which reads no source. `settings` is then unused.
  bool is_query_database = false;
};

/// Runs all checks. The checks of the database and of the network run at the same time, so that
/// neither waits for the other. Ends within the limits of the options. Throws std::runtime_error if
/// the CA file of `http` cannot be used. `clock` must outlive the process.
Findings examine(const Examination& examination, const Clock& clock);

}  // namespace skua::doctor
