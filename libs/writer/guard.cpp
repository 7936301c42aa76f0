#include "writer/guard.hpp"

#include "writer/guard.sql.hpp"

namespace skua::writer {
namespace {

/// A revision that is known for a change: of a tombstone, of a row in bsky.records, or the minimum
/// revision of the account. Places count from 1.
struct KnownRevision {
  std::int64_t place;
  atproto::Tid rev;
  bool is_record;
};

}  // namespace

std::vector<GuardedChange> drop_known(store::Session& session,
                                      std::span<const event::ResolvedEvent* const> changes) {
  using event::ResolvedEvent;
  using store::column;
  std::vector<bool> dropped(changes.size());
  std::vector<bool> has_records_row(changes.size());
  for (const KnownRevision& known :
       session.query<KnownRevision>(sql::guard_known, column(changes, &ResolvedEvent::actor_id),
                                    column(changes, &ResolvedEvent::collection_id),
                                    column(changes, &ResolvedEvent::rkey_number))) {
    const auto place = static_cast<std::size_t>(known.place - 1);
    if (changes[place]->change().rev <= known.rev) dropped[place] = true;
    if (known.is_record) has_records_row[place] = true;
  }
  std::vector<GuardedChange> news;
  news.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!dropped[i]) news.push_back({changes[i], has_records_row[i]});
  }
  return news;
}

}  // namespace skua::writer
