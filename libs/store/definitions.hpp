#pragma once

#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "store/schema.hpp"
#include "store/session.hpp"

namespace skua::store {

/// The schema of the database does not match this program; the message tells the user what to do.
class MigrationError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The files of functions, views and rights. A file creates its objects with CREATE OR REPLACE, and
// skua.schema_files has its checksum and its objects.

/// The files of `known` that differ from those that were applied to the database, or of which an
/// object is missing, in the order of `known`. The last one has the rights. It is there if any
/// other file is, or if a file that was applied is not in `known`.
std::vector<SchemaFile> changed_definitions(Session& session, std::span<const SchemaFile> known);

/// Applies the files of `known` whose names are in `names`, in their order, inside the caller's
/// transaction. If CREATE OR REPLACE cannot change an object, the objects of its file and all that
/// depend on them are dropped and created again. Then drops the objects that no file creates any
/// more. Throws MigrationError if an object that is not from `known` depends on one that must be
/// dropped; SqlError.
void apply_definitions(Session& session, std::span<const SchemaFile> known,
                       std::set<std::string> names);

}  // namespace skua::store
