#include "store/letter_reasons.hpp"

#include <fmt/format.h>

namespace skua::store {

LetterReasons read_letter_reasons(Session& session, std::size_t limit) {
  const Rows rows = session.run(
      fmt::format("SELECT error, count(*), max(last_at), (sum(count(*)) OVER ())::int8 "
                  "FROM skua.dead_letter_errors GROUP BY error ORDER BY 2 DESC, 1 LIMIT {}",
                  limit));
  LetterReasons found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.all = rows.int8(i, 3);
    found.reasons.push_back({rows.int8(i, 1), std::string(rows.text(i, 0)), rows.timestamp(i, 2)});
  }
  return found;
}

}  // namespace skua::store
