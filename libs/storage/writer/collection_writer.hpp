#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.hpp"
#include "postgres/session.hpp"
#include "writer/effects.hpp"
#include "writer/row_writer.hpp"

namespace skua::writer {

/// Writes the changes of one collection: valid records to its typed table, and records that break
/// their lexicon to `bsky.records` with their reason. A delete removes the record from both. A
/// record moves between the two tables when an update changes its validity. All records of a
/// collection without a typed table are in `bsky.records`. `changes` has one change for each key,
/// and is sorted by key. Returns the number of rows changed.
std::size_t write_collection(postgres::Session& session, std::int32_t collection_id,
                             std::span<const GuardedChange> changes, Timestamp now,
                             Effects& effects);

}  // namespace skua::writer
