#include "sources/labeler/discovery/labeler_candidates.hpp"

#include "sources/labeler/discovery/labeler_candidates.sql.hpp"

namespace skua::sources {

std::vector<std::string> read_labeler_candidates(store::Session& session, std::size_t most) {
  return session.query<std::string>(sql::labelers_read, most);
}

}  // namespace skua::sources
