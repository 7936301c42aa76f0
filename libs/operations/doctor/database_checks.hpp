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
  /// For all checks together. A statement may take a third of it, and wait for
  /// a lock for a tenth.
  std::chrono::milliseconds limit = std::chrono::seconds(30);
};

/// What the checks of the database found.
struct DatabaseFindings {
  Findings findings;
  /// PostgreSQL's clock minus the local one; nothing: not known.
  std::optional<std::chrono::microseconds> server_ahead = std::nullopt;
  /// A session that reads a source into the database; nothing: none does, or it is not known.
  std::optional<std::string> source_reader = std::nullopt;
};

/// The checks of a database, on a thread of their own. Each check that fails, as for lack of a
/// right, becomes a finding, and the next one follows. The thread only reads.
class DatabaseChecks {
 public:
  /// Begins. `clock` must outlive the process.
  DatabaseChecks(DatabaseOptions options, const Clock& clock);
  ~DatabaseChecks();
  DatabaseChecks(const DatabaseChecks&) = delete;
  DatabaseChecks& operator=(const DatabaseChecks&) = delete;

  /// Waits for the end, at most until the limit. Then it adds a finding that the server does not
  /// answer, and leaves the thread, which may block in a system call, to the end of the process.
  DatabaseFindings finish();

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
  const std::chrono::steady_clock::time_point deadline_;
};

}  // namespace skua::doctor
