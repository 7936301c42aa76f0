#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "doctor/finding.hpp"
#include "postgres/server_check.hpp"

namespace skua::doctor {

struct DatabaseOptions {
  /// A libpq connection string.
  std::string url;
  postgres::ServerNeeds needs;
  /// The time limit of all checks together. A statement may take a third of this time, and wait for
  /// a lock for a tenth of it.
  std::chrono::milliseconds limit = std::chrono::seconds(30);
};

/// The results of the checks of the database.
struct DatabaseFindings {
  Findings findings;
  /// PostgreSQL's clock minus the local clock; nothing if it is unknown.
  std::optional<std::chrono::microseconds> server_ahead = std::nullopt;
  /// A session that reads a source into the database; nothing if there is none, or if it is
  /// unknown.
  std::optional<std::string> source_reader = std::nullopt;
};

/// Checks a database on its own thread. A check that fails, for example because of a missing right,
/// becomes a finding, and the next check follows. The thread only reads.
class DatabaseChecks {
 public:
  /// Starts the checks. `clock` must outlive the process.
  DatabaseChecks(DatabaseOptions options, const Clock& clock);
  ~DatabaseChecks();
  DatabaseChecks(const DatabaseChecks&) = delete;
  DatabaseChecks& operator=(const DatabaseChecks&) = delete;

  /// Waits for the end of the checks until the limit. After the limit it adds a finding that the
  /// server does not answer, and abandons the thread, which may block in a system call until the
  /// process ends.
  DatabaseFindings finish();

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
  const std::chrono::steady_clock::time_point deadline_;
};

}  // namespace skua::doctor
