#include "store/letter_reasons.hpp"

#include "store/letter_reasons.sql.hpp"

namespace skua::store {
namespace {

struct ReasonRow {
  std::int64_t count;
  std::string reason;
  Timestamp last_at;
  std::int64_t all;
};

}  // namespace

LetterReasons read_letter_reasons(Session& session, std::size_t limit) {
  LetterReasons found;
  for (ReasonRow& row : session.query<ReasonRow>(sql::letter_reasons, limit)) {
    found.all = row.all;
    found.reasons.push_back({row.count, std::move(row.reason), row.last_at});
  }
  return found;
}

}  // namespace skua::store
