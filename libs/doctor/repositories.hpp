#pragma once

#include "doctor/finding.hpp"
#include "status/account_counts.hpp"

namespace skua::doctor {

/// The judgement of status::repository_counts. Pure. Partial repositories are advice: an indexer of
/// live events has them. Failed resyncs are a warning.
Finding judge_repositories(const status::RepositoryCounts& counts);

}  // namespace skua::doctor
