#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.hpp"
#include "postgres/session.hpp"
#include "writer/effects.hpp"
#include "writer/row_writer.hpp"

namespace skua::writer {

/// Writes the changes of one collection: valid records to its typed table, records that break their
/// lexicon to `bsky.records` with their reason, deletes to neither, and moves a record between the
/// two when an update changes its validity. A collection without a typed table has all in
/// `bsky.records`. `changes` has one change a key and is sorted by key. Returns the number of rows
/// changed.
std::size_t write_collection(postgres::Session& session, std::int32_t collection_id,
                             std::span<const GuardedChange> changes, Timestamp now,
                             Effects& effects);

}  // namespace skua::writer
