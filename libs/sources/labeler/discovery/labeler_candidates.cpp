#include "sources/labeler/discovery/labeler_candidates.hpp"

#include <cstdint>

#include "sources/labeler/discovery/labeler_candidates.sql.hpp"
#include "store/first_column.hpp"

namespace skua::sources {
namespace {}  // namespace

std::vector<std::string> read_labeler_candidates(store::Session& session, std::size_t most) {
  store::Params params;
  params.int8(static_cast<std::int64_t>(most));
  return store::first_column(session.execute(sql::labelers_read, params));
}

}  // namespace skua::sources
