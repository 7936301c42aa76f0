#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua::consumers {

/// A table of a projection. A build creates it as `skua.<name>_<consumer>`. People read it through
/// the view `bsky.<name>`, which schema/tables/projections.sql creates without rows.
struct ProjectionTable {
  std::string name;
  /// The columns in the order of the view, and the primary key, as in CREATE TABLE.
  std::string definition;
  /// The columns of further indexes, such as "(recipient, sort_at)". A build creates them last.
  std::vector<std::string> indexes = {};
  /// Without a view.
  bool is_internal = false;
};

/// Tables that are computed from the records and follow the change log. In the SQL, `{name}` stands
/// for the table `name` of the build, and `{consumer}` for the number of the consumer.
///
/// To add a projection: a file `NAME.sql` in this folder (projection_file.hpp has its form), and a
/// migration that creates its views without rows.
struct Projection {
  std::string name;
  /// Increase it when the content of the tables changes for equal records: skua then rebuilds them.
  std::int32_t version = 1;
  /// One sentence for `skua consumers list`.
  std::string help;
  /// Whether several lanes may fold at the same time. Their parts must not touch the same rows.
  bool has_lanes = false;
  std::vector<ProjectionTable> tables;
  /// Fills the empty tables from the records. All statements see the same snapshot.
  std::vector<std::string> fill;
  /// Applies the changes of a batch. Parameters: the first position, the position after the last
  /// one, the lane from 0, and the number of lanes. Repeated with the same parameters after a
  /// rollback only. Sees records as they are now: later changes of them are in later batches.
  std::vector<std::string> fold;
  /// Does a limited part of the work that waits in queues of the projection, without new changes.
  /// No parameters. Empty: it has no queues.
  std::vector<std::string> drain = {};
  /// Returns the position of the oldest change whose work waits in a queue, null if none waits; and
  /// whether the next drain is a whole one again, which keeps to the time between two batches.
  std::string waiting_pos = {};
  /// Appends to the log how the first table differs from the one that people saw before. Runs last
  /// in an exchange and in a removal. `{former}` and `{next}` are the tables; a missing one is
  /// empty. Empty: other consumers do not depend on the tables.
  std::string publish = {};
  /// Projections whose views and changes it depends on. If one of them loses its tables, so that
  /// nobody knows what changed, this one is rebuilt.
  std::vector<std::string> depends_on = {};
  /// Returns a text for each row that differs from the records, at most ten. Parameter: how many
  /// keys to compare, chosen at random; null: all. The tables have all changes of the snapshot.
  std::string differences;
};

/// All projections, by name.
const std::vector<Projection>& projections();

/// Null if there is no such projection.
const Projection* find_projection(std::string_view name);

}  // namespace skua::consumers
