#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "consumers/projections/projection.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

struct DryRunOptions {
  /// The number of records of each collection.
  std::int32_t records = 10'000;
  /// The time of one statement that fills or compares tables.
  std::chrono::seconds timeout{60};
};

/// The result of a dry run.
struct DryRun {
  struct Step {
    /// Such as "fill".
    std::string name;
    std::chrono::milliseconds time{0};
    /// The sum of the costs of the plans, in the unit of PostgreSQL.
    double cost = 0;
    /// The lines of the plans of all statements, as EXPLAIN prints them.
    std::vector<std::string> plan = {};
  };
  struct Table {
    std::string name;
    std::int64_t rows = 0;
  };

  /// The number of records of the sample; nothing if the file has its own fill, which reads all.
  std::optional<std::int64_t> records;
  /// The number of changes of the log that the fold applied, if the file has its own fold.
  std::optional<std::int64_t> changes;
  std::vector<Step> steps;
  std::vector<Table> tables;
  /// The differences between fold and fill; at most ten for each table.
  std::vector<std::string> differences;
};

/// Tries a projection in a transaction that is rolled back. In the simple form, fills the tables
/// from two thirds of a sample of records, applies the sample as a batch, and compares the tables
/// with a fill from the sample. A file with its own fill is filled from all records and compared
/// with its own differences or a second fill; then its fold applies the last changes of the log,
/// whose result cannot be compared, because the fill contains them. With `-- lanes: several` two
/// lanes apply them. Each step has the plans of its statements. Throws std::invalid_argument
/// with the reason if something fails, and postgres::SqlError for failures of the server.
DryRun try_projection(postgres::Session& session, const Projection& projection,
                      const DryRunOptions& options);

}  // namespace skua::consumers
