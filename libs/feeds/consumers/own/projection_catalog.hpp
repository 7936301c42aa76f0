#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "consumers/projections/projection.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

// The built-in projections and those that users added (skua.projections). The program reads each
// text once: its hash names it, so that an entry of the cache is never out of date. All functions
// throw postgres::SqlError. Any thread.

/// Returns the projection whose tables a consumer has. `definition` is the hash of the text that
/// built them (skua.consumers.definition); empty for a built-in projection. Returns null if this
/// version of the program does not have it or cannot read its text.
ProjectionRef projection_of(postgres::Session& session, std::string_view name,
                            std::string_view definition);

/// Returns the newest version of a projection: of the stored one, or the built-in one. Null if
/// there is none.
ProjectionRef newest_projection(postgres::Session& session, std::string_view name);

/// Returns the projection of the tables that people see, or that are built: of the live consumer or
/// else of the next one. Null if there is no such consumer or projection.
ProjectionRef used_projection(postgres::Session& session, std::string_view name);

/// Whether a consumer, also a retired one, has a projection that a user added.
bool has_own_projections(postgres::Session& session);

/// Returns the names of all projections, sorted.
std::vector<std::string> projection_names(postgres::Session& session);

/// A row of `skua.projections`.
struct StoredProjection {
  std::string name;
  std::int32_t version = 0;
  std::string help;
  std::string sha256;
  std::string text;
  Timestamp added_at;
  /// The consumers that use this version, such as "live, running".
  std::string used_by;
};

/// Returns all versions, sorted by name and version.
std::vector<StoredProjection> read_stored_projections(postgres::Session& session);

/// Stores the text of a projection, which has no stored version of its number.
void insert_text(postgres::Session& session, const Projection& projection);

/// Removes the texts of all versions of a projection.
void remove_texts(postgres::Session& session, const std::string& name);

/// The effect of `add_projection`.
enum class ProjectionChange : std::uint8_t {
  Added,
  /// The tables of the former version serve until they are rebuilt.
  Replaced,
  /// The text is the stored one.
  Unchanged,
};

/// Checks the text of a file in the database and stores it. A higher version replaces the stored
/// one; versions that consumers use stay. Throws ConsumerError, and std::invalid_argument if the
/// text is refused.
ProjectionChange add_projection(postgres::Session& session, const Projection& projection);

/// Whether a projection that users added has this name.
bool is_stored(postgres::Session& session, const std::string& name);

/// Throws ConsumerError if a consumer uses the projection, or if no user added one of this name.
void require_removable_projection(postgres::Session& session, const std::string& name);

/// Removes a projection that no consumer of this database uses, and its views. Throws
/// ConsumerError.
void remove_projection(postgres::Session& session, const std::string& name);

}  // namespace skua::consumers
