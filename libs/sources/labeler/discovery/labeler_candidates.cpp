#include "sources/labeler/discovery/labeler_candidates.hpp"

#include <cstdint>

#include "store/first_column.hpp"

namespace skua::sources {
namespace {

// By the primary key of bsky.labelers. An account may have several records: only `self` counts as a
// service, but the others do no harm.
const store::Statement kRead{"labelers_read",
                             "SELECT a.did FROM (SELECT DISTINCT actor_id FROM bsky.labelers) AS l "
                             "JOIN bsky.actors AS a ON a.id = l.actor_id "
                             "WHERE a.active ORDER BY l.actor_id LIMIT $1::int8"};

}  // namespace

std::vector<std::string> read_labeler_candidates(store::Session& session, std::size_t most) {
  store::Params params;
  params.int8(static_cast<std::int64_t>(most));
  return store::first_column(session.execute(kRead, params));
}

}  // namespace skua::sources
