#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/finding.hpp"
#include "store/session.hpp"

namespace skua::doctor {

/// Dead letters that nobody has handled, with the same reason.
struct LetterReason {
  std::int64_t count = 0;
  std::string reason;
};

/// The most frequent reasons of dead letters, and the number of all.
struct LettersFound {
  std::int64_t all = 0;
  std::vector<LetterReason> reasons;
};

/// Throws store::SqlError.
LettersFound read_letters(store::Session& session);

/// Pure.
Finding judge_letters(const LettersFound& letters);

}  // namespace skua::doctor
