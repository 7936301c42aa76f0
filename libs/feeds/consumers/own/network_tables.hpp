#pragma once

#include <string>
#include <vector>

#include "consumers/own/projection_catalog.hpp"
#include "consumers/projections/projection.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

// The projections of a query database that users added (ADR 14, ADR 20). Each node has the
// projection and its consumer. The query database has the text, and for each table a view that
// joins the tables of the nodes (skua.join_table). All functions throw ConsumerError and
// postgres::SqlError. Any thread.

/// The effect of `join_projection`.
struct JoinedProjection {
  ProjectionChange change = ProjectionChange::Unchanged;
  /// The tables that the query database does not show, because the file does not say how.
  std::vector<std::string> hidden;
};

/// Stores a projection in a query database, and makes its views. Each node must have it already. A
/// view with other columns than before is dropped and created again, which fails if a view of a
/// user reads it.
JoinedProjection join_projection(postgres::Session& session, const Projection& projection);

/// Removes a projection and its views from a query database. Nothing happens if it has none.
void part_projection(postgres::Session& session, const std::string& name);

}  // namespace skua::consumers
