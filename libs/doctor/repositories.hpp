#pragma once

#include "doctor/finding.hpp"
#include "status/account_counts.hpp"

namespace skua::doctor {

// The judgement of repositories and account numbers (status::repository_counts,
// resolve::actor_numbers_used). Pure.

/// Partial repositories are advice: an indexer of live events has them. Failed resyncs are a
/// warning.
Finding judge_repositories(const status::RepositoryCounts& counts);

/// `used`: the share of all account numbers, 0 to 1.
Finding judge_account_numbers(double used);

}  // namespace skua::doctor
