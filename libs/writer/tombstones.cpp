#include "writer/tombstones.hpp"

#include "writer/tombstones.sql.hpp"

namespace skua::writer {

void write_tombstones(store::Session& session, std::span<const event::ResolvedEvent* const> deletes,
                      const SourceNames& sources) {
  using event::ResolvedEvent;
  using store::column;
  session.execute(
      sql::tombstones_upsert, column(deletes, &ResolvedEvent::actor_id),
      column(deletes, &ResolvedEvent::collection_id), column(deletes, &ResolvedEvent::rkey_number),
      column(deletes, [](const ResolvedEvent* deleted) { return deleted->change().rev; }),
      column(deletes, [](const ResolvedEvent* deleted) { return deleted->event.seq; }),
      column(deletes, [&](const ResolvedEvent* deleted) { return sources.of(*deleted); }));
}

}  // namespace skua::writer
