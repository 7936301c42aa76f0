#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consumers/own/own_parts.hpp"

namespace skua::consumers {

/// A table of a projection. A build creates it as `skua.<name>_<consumer>`. People read it through
/// the view `bsky.<name>`, which `skua migrate` creates without rows. The tables and
/// views of a projection that a user added are in the schema `projections`.
struct ProjectionTable {
  std::string name;
  /// The columns in the order of the view, and the primary key, in the syntax of CREATE TABLE.
  std::string definition;
  /// The columns of further indexes, such as "(recipient, sort_at)". A build creates these indexes
  /// last.
  std::vector<std::string> indexes = {};
  /// True if the table has no view.
  bool is_internal = false;
};

/// Tables that are computed from the records and follow the change log. In the SQL, `{name}` stands
/// for the table `name` of the build, and `{consumer}` for the number of the consumer.
///
/// A new projection needs a file `NAME.sql` in this folder (projection_file.hpp describes the
/// form).
struct Projection {
  std::string name;
  /// The version must increase when the content of the tables changes for equal records. skua then
  /// rebuilds the tables.
  std::int32_t version = 1;
  /// One sentence for `skua consumers list`.
  std::string help;
  /// True if several lanes may fold at the same time. Different lanes must not change the same
  /// rows.
  bool has_lanes = false;
  std::vector<ProjectionTable> tables;
  /// Fills the empty tables from the records. All statements see the same snapshot.
  std::vector<std::string> fill;
  /// Applies the changes of a batch. The parameters are the first position, the position after the
  /// last change, the lane from 0, and the number of lanes. The statements run again with the same
  /// parameters only after a rollback. They see records in their present state; later changes of
  /// these records are in later batches.
  std::vector<std::string> fold;
  /// Does a limited part of the work that waits in queues of the projection, without new changes.
  /// The statements have no parameters. Empty if the projection has no queues.
  std::vector<std::string> drain = {};
  /// Returns two columns: the position of the oldest change whose work waits in a queue, or null if
  /// no work waits; and whether more work waits than one drain does. In that case the next drain
  /// waits for the time between two batches.
  std::string waiting_pos = {};
  /// Appends to the log how the first table differs from the table that was visible before. Runs
  /// last in an exchange and in a removal. `{former}` and `{next}` are the two tables; a missing
  /// table is empty. No statement if no other consumer depends on the tables.
  std::string publish = {};
  /// The projections whose views and changes this projection uses. If one of them loses its tables,
  /// its changes are unknown, so this projection is rebuilt.
  std::vector<std::string> depends_on = {};
  /// Returns a text for each row that differs from the records, at most ten. The parameter is the
  /// number of keys to compare, chosen at random; null for all keys. The tables contain all changes
  /// of the snapshot.
  std::string differences;
  /// The parts of a projection that a user added. Its statements above are calls of the functions
  /// that own_functions.hpp creates. Nothing if the projection is built in.
  std::optional<OwnParts> own = std::nullopt;
};

/// A projection that lives as long as its users: a built-in one, or one from the database.
using ProjectionRef = std::shared_ptr<const Projection>;

/// Returns all built-in projections, sorted by name. projection_catalog.hpp finds those that users
/// added, too.
const std::vector<Projection>& projections();

/// Returns null if there is no built-in projection of this name.
const Projection* find_projection(std::string_view name);

/// Returns the text of a built-in projection; empty if there is none of this name.
std::string_view built_in_text(std::string_view name);

}  // namespace skua::consumers
