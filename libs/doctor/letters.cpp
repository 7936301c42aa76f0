#include "doctor/letters.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/utf8.hpp"

namespace skua::doctor {
namespace {

constexpr std::size_t kLongestReason = 120;

}  // namespace

LettersFound read_letters(store::Session& session) {
  const store::Rows rows = session.run(
      "SELECT error, count(*), (sum(count(*)) OVER ())::int8 FROM skua.dead_letter_errors "
      "GROUP BY error ORDER BY 2 DESC, 1 LIMIT 3");
  LettersFound found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.all = rows.int8(i, 2);
    found.reasons.push_back({rows.int8(i, 1), rows.text_or_null(i, 0).value_or("")});
  }
  return found;
}

Finding judge_letters(const LettersFound& letters) {
  if (letters.all == 0) return ok("dead letters", "none");
  std::string detail = counted(letters.all, "dead letter") + ": ";
  std::int64_t shown = 0;
  for (const LetterReason& reason : letters.reasons) {
    detail += fmt::format("{}{} x {}", shown == 0 ? "" : ", ", reason.count,
                          printable(reason.reason, kLongestReason));
    shown += reason.count;
  }
  if (shown < letters.all) detail += fmt::format(", {} x others", letters.all - shown);
  return warning("dead letters", problem("dead-letters"), detail);
}

}  // namespace skua::doctor
