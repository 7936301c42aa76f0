#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// Which jobs are due or open (see job_table.hpp).

/// Up to `limit` hosts with due jobs, sorted by name, after `after`: the caller goes through them
/// in turn. Reads one row for each host with queued jobs.
std::vector<std::string> due_hosts(store::Session& session, Timestamp now, std::size_t limit,
                                   const std::string& after = {});

/// The hosts with due jobs of these accounts, sorted by name.
std::vector<std::string> due_hosts_of(store::Session& session, std::span<const std::string> dids,
                                      Timestamp now);

/// When the first queued job is or was due; nothing: none is queued.
std::optional<Timestamp> next_due(store::Session& session);

/// Whether any job is queued or running.
bool jobs_remain(store::Session& session);
/// The same for the jobs of these accounts.
bool jobs_remain_of(store::Session& session, std::span<const std::string> dids);

/// The DIDs with a running job of any lease owner, in no order.
std::vector<std::string> running_jobs(store::Session& session, std::span<const std::string> dids);

}  // namespace skua::backfill
