#pragma once

#include "doctor/finding.hpp"
#include "store/letter_reasons.hpp"

namespace skua::doctor {

/// Names the reasons in `letters`, and the number of the others. Pure.
Finding judge_letters(const store::LetterReasons& letters);

}  // namespace skua::doctor
