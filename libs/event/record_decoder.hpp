#pragma once

#include <string>
#include <string_view>

#include "atproto/data_model.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

// What is done with a record wherever it comes from, a commit or a whole repository. Functions that
// read return what is wrong in plain words, an empty string when all is well.

/// Makes `out` a RecordChange at this path, with this revision and the type of its collection.
std::string read_path(std::string_view path, atproto::Tid rev, UnresolvedEvent& out);

/// Fills the change with its record, whose bytes are copied: it then lives without what they came
/// in. `scratch` is memory that is reused.
std::string read_record(const atproto::Cid& cid, ByteView block, atproto::Document& scratch,
                        RecordChange& change);

/// Makes a Rejection of a RecordChange that cannot be used. Its payload is the record's block, as
/// far as the change has it.
void reject(std::string_view what, std::string error, UnresolvedEvent& out);

}  // namespace skua::event
