#pragma once

#include "doctor/finding.hpp"
#include "status/database_size.hpp"
#include "tables/dead_letters.hpp"

namespace skua::doctor {

/// Names the reasons in `letters`, and the number of the others. Pure.
Finding judge_letters(const tables::LetterReasons& letters);

/// The judgement of status::repository_counts. Pure. Partial repositories are advice: an indexer of
/// live events has them. Failed resyncs are a warning.
Finding judge_repositories(const status::RepositoryCounts& counts);

}  // namespace skua::doctor
