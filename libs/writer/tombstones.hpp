#pragma once

#include <span>

#include "event/resolved_event.hpp"
#include "store/session.hpp"
#include "writer/source_names.hpp"

namespace skua::writer {

/// Records deletes in `skua.tombstones` (actor, collection, rkey, rev), so that an older write of
/// the same key that comes later cannot bring the record back. `deletes` is sorted by key, without
/// duplicates. They are removed when the saved cursor has passed them (store/cursor_store.hpp).
void write_tombstones(store::Session& session, std::span<const event::ResolvedEvent* const> deletes,
                      const SourceNames& sources);

}  // namespace skua::writer
