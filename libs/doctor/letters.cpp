#include "doctor/letters.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/utf8.hpp"

namespace skua::doctor {
namespace {

constexpr std::size_t kLongestReason = 120;

}  // namespace

Finding judge_letters(const store::LetterReasons& letters) {
  if (letters.all == 0) return ok("dead letters", "none");
  std::string detail = counted(letters.all, "dead letter") + ": ";
  std::int64_t shown = 0;
  for (const store::LetterReason& reason : letters.reasons) {
    detail += fmt::format("{}{} x {}", shown == 0 ? "" : ", ", reason.count,
                          printable(reason.reason, kLongestReason));
    shown += reason.count;
  }
  if (shown < letters.all) detail += fmt::format(", {} x others", letters.all - shown);
  return warning("dead letters", problem("dead-letters"), detail);
}

}  // namespace skua::doctor
