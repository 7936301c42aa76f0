#include <cstdio>

#include <fmt/format.h>

#include "accounts.hpp"
#include "addresses.hpp"
#include "app/database.hpp"
#include "backfill/discovery/list_commands.hpp"
#include "backfill/queue/job_commands.hpp"
#include "base/count_text.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "settings.hpp"
#include "status/backfill_monitor.hpp"
#include "status/backfill_text.hpp"
#include "store/process_name.hpp"
#include "store/server_clock.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

const Option<OptionalText> kHost(
    {.name = "--host",
     .type = "URL",
     .meaning = "Only repositories of this host, such as https://pds.example"},
    host_origin);
const Option<std::vector<backfill::JobState>> kStates(
    {.name = "--state",
     .type = "queued|running|done|unavailable|failed|cancelled",
     .meaning = "Only repositories in this state; may be repeated"},
    [](const SettingValue& given) {
      if (const auto state = backfill::job_state(given.value)) return *state;
      refuse_word(given, {"queued", "running", "done", "unavailable", "failed", "cancelled"});
    });
const Option<bool> kAllJobs({.name = "--all",
                             .meaning = "All queued and running repositories and lists"});

/// The selection of jobs, without the accounts.
backfill::JobFilter filter_of_jobs(const Invocation& invocation) {
  backfill::JobFilter filter;
  filter.host = invocation[kHost];
  filter.states = invocation[kStates];
  return filter;
}

/// A change to jobs or lists; returns their number.
using Change = std::size_t(store::Session&, const backfill::JobFilter&, Timestamp);

/// Changes the selected jobs and lists; accounts that do not resolve are skipped.
int change_jobs(const Invocation& invocation, Change& jobs, Change& lists, const char* done_to_jobs,
                const char* done_to_lists) {
  const std::string url = require_database(invocation);
  backfill::JobFilter filter = filter_of_jobs(invocation);
  const Texts who = invocation[kWho];
  const Texts files = invocation[kFiles];
  const AccountChoice accounts = account_choice(invocation, who, files);
  app::check_database(url);
  std::size_t problems = 0;
  filter.dids = look_up(accounts, problems);
  const bool names_none = (!who.empty() || !files.empty()) && filter.dids.empty();
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

int backfill_status(const Invocation& invocation) {
  store::Session session = open_database(invocation, "skua backfill status");
  const nlohmann::json status = status::read_backfill_status(session);
  const std::string text = status::backfill_status_text(status);
  if (invocation[kJson]) {
    fmt::print("{}\n", status.dump(2));
  } else if (text.empty()) {
    fmt::print("nothing was asked for: `skua backfill --help` says how\n");
  } else {
    fmt::print("{}", text);
  }
  return kSuccess;
}

int backfill_retry(const Invocation& invocation) {
  return change_jobs(invocation, backfill::retry_jobs, backfill::retry_lists,
                     "queued again; `skua backfill` or `skua run` downloads them", "queued again");
}

int backfill_cancel(const Invocation& invocation) {
  const bool is_chosen = invocation.is_given(kWho) || invocation.is_given(kFiles) ||
                         invocation.is_given(kHost) || invocation.is_given(kStates);
  if (!is_chosen && !invocation[kAllJobs]) {
    throw UsageError("backfill cancel: name accounts, --host or --state, or say --all");
  }
  return change_jobs(invocation, backfill::cancel_jobs, backfill::cancel_lists,
                     "cancelled; rows that are written stay",
                     "cancelled; no more pages of them are read");
}

}  // namespace

CommandSpecs backfill_jobs_commands() {
  const OptionUse who = with_meaning(kWho, kWho.meaning + "; none: all");
  return {{"backfill status",
           "Print the queue, its states and its errors",
           {kDatabase, kJson},
           backfill_status},
          {"backfill retry",
           "Queue repositories again that failed or are unavailable",
           {who, kFiles, kHost, kStates, kDatabase, kDns, kCaFile, kAllowPrivateHosts},
           backfill_retry},
          {"backfill cancel",
           "Remove repositories and lists from the queue",
           {who, kFiles, kHost, kStates, kDatabase, kDns, kCaFile, kAllowPrivateHosts, kAllJobs},
           backfill_cancel}};
}

}  // namespace skua::cli
