#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "atproto/data_model.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

// Common steps for a record of a commit or of a whole repository. Functions that read return an
// error message, which is empty on success.

/// Makes `out` a RecordChange at this path, with this revision and the type of its collection.
std::string read_path(std::string_view path, atproto::Tid rev, UnresolvedEvent& out);

/// Fills the change with its record. It copies the bytes of the record, so the change does not
/// depend on its input. `scratch` is reusable memory.
std::string read_record(const atproto::Cid& cid, ByteView block, atproto::Document& scratch,
                        RecordChange& change);

/// Turns a RecordChange that cannot be used into a Rejection. Its payload is the record's block, as
/// far as the change contains it. `operation`: nothing if it is unknown.
void reject(std::string_view what, std::string error, std::optional<Operation> operation,
            UnresolvedEvent& out);

}  // namespace skua::event
