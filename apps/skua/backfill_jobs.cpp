#include <cstdio>

#include <fmt/format.h>

#include "app/database.hpp"
#include "backfill/discovery/list_commands.hpp"
#include "backfill/queue/job_commands.hpp"
#include "base/count_text.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "status/backfill_monitor.hpp"
#include "status/backfill_text.hpp"
#include "store/process_name.hpp"
#include "store/server_clock.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

/// The selection of jobs, without the accounts.
backfill::JobFilter filter_of(const BackfillJobsFlags& flags) {
  backfill::JobFilter filter;
  if (flags.host) filter.host = host_origin({*flags.host, "--host"});
  for (const std::string& word : flags.states) {
    const auto state = backfill::job_state(word);
    if (!state) {
      throw UsageError(fmt::format(
          "--state: '{}' is not one of queued, running, done, unavailable, failed, cancelled",
          word));
    }
    filter.states.push_back(*state);
  }
  return filter;
}

/// A change to jobs or lists; returns their number.
using Change = std::size_t(store::Session&, const backfill::JobFilter&, Timestamp);

/// Changes the selected jobs and lists; accounts that do not resolve are skipped.
int change_jobs(const Settings& settings, const BackfillJobsFlags& flags, Change& jobs,
                Change& lists, const char* done_to_jobs, const char* done_to_lists) {
  const std::string url = require_database(settings, flags.database);
  backfill::JobFilter filter = filter_of(flags);
  const AccountChoice accounts =
      account_choice(settings, flags.verification, flags.who, flags.files);
  app::check_database(url);
  std::size_t problems = 0;
  filter.dids = look_up(accounts, problems);
  const bool names_none = (!flags.who.empty() || !flags.files.empty()) && filter.dids.empty();
  // An empty list of accounts would select all jobs.
  if (names_none) return kFailure;
  store::Session session(url, store::process_name("skua backfill jobs"));
  // Lists first: a list that is being read would otherwise queue more repositories.
  const Timestamp now = store::server_time(session);
  const std::size_t changed_lists = lists(session, filter, now);
  fmt::print("{} {}\n", counted(jobs(session, filter, now), "repository"), done_to_jobs);
  if (changed_lists > 0) {
    fmt::print("{} of repositories {}\n", counted(changed_lists, "list"), done_to_lists);
  }
  return problems == 0 ? kSuccess : kFailure;
}

}  // namespace

int backfill_status(const Settings& settings, const StatusFlags& flags) {
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  store::Session session(url, store::process_name("skua backfill status"));
  const nlohmann::json status = status::read_backfill_status(session);
  const std::string text = status::backfill_status_text(status);
  if (flags.json) {
    fmt::print("{}\n", status.dump(2));
  } else if (text.empty()) {
    fmt::print("nothing was asked for: `skua backfill --help` says how\n");
  } else {
    fmt::print("{}", text);
  }
  return kSuccess;
}

int backfill_retry(const Settings& settings, const BackfillJobsFlags& flags) {
  return change_jobs(settings, flags, backfill::retry_jobs, backfill::retry_lists,
                     "queued again; `skua backfill` or `skua run` downloads them", "queued again");
}

int backfill_cancel(const Settings& settings, const BackfillJobsFlags& flags) {
  if (flags.who.empty() && flags.files.empty() && !flags.host && flags.states.empty() &&
      !flags.all) {
    throw UsageError("backfill cancel: name accounts, --host or --state, or say --all");
  }
  return change_jobs(settings, flags, backfill::cancel_jobs, backfill::cancel_lists,
                     "cancelled; rows that are written stay",
                     "cancelled; no more pages of them are read");
}

}  // namespace skua::cli
