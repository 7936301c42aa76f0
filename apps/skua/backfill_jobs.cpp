#include <cstdio>

#include <fmt/format.h>

#include "app/database.hpp"
#include "app/history_text.hpp"
#include "app/history_watch.hpp"
#include "backfill/job_commands.hpp"
#include "commands.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

/// Which jobs are meant.
backfill::JobFilter filter_of(const Settings& settings, const BackfillJobsFlags& flags,
                              std::size_t& problems) {
  backfill::JobFilter filter;
  filter.dids = dids_of(settings, flags.verification, flags.who, flags.files, problems);
  if (flags.host) filter.host = host_origin({*flags.host, "--host"});
  for (const std::string& word : flags.states) {
    const auto state = backfill::job_state(word);
    if (!state) {
      throw UsageError(fmt::format(
          "--state: '{}' is none of queued, running, done, unavailable, failed, cancelled", word));
    }
    filter.states.push_back(*state);
  }
  return filter;
}

/// Runs `change` on the jobs that are meant; names that lead nowhere change nothing.
template <class Change>
int change_jobs(const Settings& settings, const BackfillJobsFlags& flags, const char* done,
                const Change& change) {
  const std::string url = settings.require(kDatabase, flags.database, "postgresql://...").value;
  std::size_t problems = 0;
  const backfill::JobFilter filter = filter_of(settings, flags, problems);
  const bool names_none = (!flags.who.empty() || !flags.files.empty()) && filter.dids.empty();
  // Without a single account that was meant, all would be.
  if (names_none) return kFailure;
  app::check_database(url);
  store::Session session(url, store::process_name("skua backfill jobs"));
  fmt::print("{} repositories {}\n", change(session, filter), done);
  return problems == 0 ? kSuccess : kFailure;
}

}  // namespace

int backfill_status(const Settings& settings, const StatusFlags& flags) {
  const std::string url = settings.require(kDatabase, flags.database, "postgresql://...").value;
  app::check_database(url);
  store::Session session(url, store::process_name("skua backfill status"));
  const nlohmann::json status = app::read_backfill_status(session);
  const std::string text = app::history_status_text(status);
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
  return change_jobs(settings, flags,
                     "are queued again; `skua backfill` or `skua run` works on them",
                     [](store::Session& session, const backfill::JobFilter& filter) {
                       return backfill::retry_jobs(session, filter, system_clock().now());
                     });
}

int backfill_cancel(const Settings& settings, const BackfillJobsFlags& flags) {
  if (flags.who.empty() && flags.files.empty() && !flags.host && flags.states.empty() &&
      !flags.all) {
    throw UsageError("backfill cancel: name accounts, --host or --state, or say --all");
  }
  return change_jobs(settings, flags, "cancelled; what is written of them stays",
                     [](store::Session& session, const backfill::JobFilter& filter) {
                       return backfill::cancel_jobs(session, filter, system_clock().now());
                     });
}

}  // namespace skua::cli
