#pragma once

#include "doctor/finding.hpp"
#include "status/database_size.hpp"
#include "tables/dead_letters.hpp"

namespace skua::doctor {

/// Judges dead letters: names the reasons in `letters`, and the number of letters with other
/// reasons. Pure.
Finding judge_letters(const tables::LetterReasons& letters);

/// Judges the result of status::repository_counts. Many partial repositories give advice, because
/// an indexer of live events has them. Many failed resyncs are a warning. Pure.
Finding judge_repositories(const status::RepositoryCounts& counts);

}  // namespace skua::doctor
