#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "accounts.hpp"
#include "addresses.hpp"
#include "app/backfill_run.hpp"
#include "app/database.hpp"
#include "app/references.hpp"
#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "backfill/discovery/list_table.hpp"
#include "backfill/queue/job_commands.hpp"
#include "backfill/queue/job_table.hpp"
#include "backfill_request.hpp"
#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/server_clock.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"
#include "status/backfill_monitor.hpp"
#include "status/backfill_text.hpp"
#include "stop_signal.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {

namespace {

const Option<bool> kBootstrap(
    {.name = "--bootstrap",
     .meaning = "For an empty database: build most indexes at the end; `skua run` refuses to start "
                "until then"});

constexpr std::chrono::milliseconds kBuildPoll{20};

std::unique_ptr<postgres::Session> ask(const std::string& database_url) {
  return std::make_unique<postgres::Session>(database_url,
                                             postgres::process_name("skua backfill ask"));
}

void begin_bootstrap(postgres::Session& session) {
  const std::size_t dropped = backfill::begin_bootstrap(session);
  if (dropped > 0) {
    print_progress(fmt::format("bootstrap: {} to be built at the end; no `skua run` until then",
                               counted(dropped, "index")));
  } else {
    print_progress("bootstrap: continuing the one that was started");
  }
}

/// Prints how many indexes are missing and which command builds them. Prints nothing if all exist.
void print_missing_indexes(postgres::Session& session) {
  const std::size_t missing = backfill::missing_indexes(session);
  if (missing == 0) return;
  fmt::print(
      "the bootstrap is not over, it has {} to build: `skua backfill` without arguments continues "
      "it, and `skua run` does not start before its end\n",
      counted(missing, "index"));
}

/// Builds the indexes that a bootstrap dropped. Returns false if it was stopped, or a build failed;
/// another call continues the work.
bool finish_bootstrap(const std::string& database_url, StopSignal& stop_signal) {
  print_progress("bootstrap: building indexes");
  std::stop_source stop;
  auto building = std::async(std::launch::async, [&] {
    return backfill::finish_bootstrap(
        database_url, {}, stop.get_token(),
        [](const std::string& name) { print_progress("bootstrap: " + name); });
  });
  while (building.wait_for(kBuildPoll) != std::future_status::ready) {
    if (stop.stop_requested() || !stop_signal.wait_for(std::chrono::milliseconds(0))) continue;
    print_progress("stopping: the server rolls back unfinished indexes");
    stop.request_stop();
  }
  try {
    building.get();
  } catch (const postgres::SqlError& error) {
    command_line::print_stderr("skua: an index cannot be built: {}\n", error.what());
    print_missing_indexes(*ask(database_url));
    return false;
  }
  if (stop.stop_requested()) {
    const auto session = ask(database_url);
    print_missing_indexes(*session);
    if (backfill::bootstrap_is_open(*session)) return false;
  }
  fmt::print("bootstrap: done; `skua run` may begin\n");
  return true;
}

void print_end(const backfill::BackfillMetrics& end, bool is_stopped) {
  fmt::print("{}: {}, {}, {} changed, {} removed, {}\n", is_stopped ? "stopped" : "done",
             counted(end.repositories, "repository"), counted(end.records, "record"),
             counted(end.rows, "row"), end.removed.value(),
             counted(end.dead_letters, "dead letter"));
  const backfill::DiscoveryMetrics& lists = end.discovery;
  if (lists.pages > 0) {
    fmt::print("lists: {}, {}, {} of them not active, {} refused\n", counted(lists.pages, "page"),
               counted(lists.accounts + lists.inactive, "account"), lists.inactive.value(),
               counted(lists.refused, "entry"));
    if (lists.current > 0) {
      fmt::print("{} left out: stored whole as of the listed revision\n",
                 counted(lists.current, "account"));
    }
    if (lists.foreign > 0) {
      fmt::print("{} left out: of groups that this database does not own\n",
                 counted(lists.foreign, "account"));
    }
    if (lists.surplus > 0) {
      fmt::print("{} left out: their hosts name far more accounts than were announced\n",
                 counted(lists.surplus, "entry"));
    }
  }
}

/// Prints what was not stored. Returns true if there is no permanent failure.
bool print_rest(postgres::Session& session, Timestamp started_at) {
  const auto failed = backfill::jobs_ended_since(session, backfill::JobState::Failed, started_at);
  const auto unavailable =
      backfill::jobs_ended_since(session, backfill::JobState::Unavailable, started_at);
  const auto lists = backfill::lists_abandoned_since(session, started_at);
  if (unavailable > 0) {
    fmt::print("{} unavailable: no host serves it\n", counted(unavailable, "repository"));
  }
  if (failed > 0) fmt::print("{} failed for good\n", counted(failed, "repository"));
  if (lists > 0) fmt::print("{} abandoned\n", counted(lists, "list"));
  if (failed + unavailable + lists > 0) {
    fmt::print("`skua backfill status` says why, `skua backfill retry` tries again\n");
  }
  return failed + lists == 0;
}

int run_backfill(const Invocation& invocation) {
  StopSignal stop_signal;
  const std::string database_url = require_database(invocation);
  const std::chrono::seconds every = invocation[kStatsInterval];
  app::BackfillRunOptions options;
  options.database_url = database_url;
  options.durability = durability(invocation);
  options.backfill = backfill_options(invocation);
  options.backfill.reader_threads = decode_threads(invocation, true);
  if (!invocation.has(kDidDocs)) options.check_handles = handle_checks(invocation);
  BackfillRequest request = backfill_request(invocation);
  options.accounts = backfill_accounts(invocation, database_url);
  app::check_database(database_url, options.durability);
  app::state_groups(database_url, invocation[kGroups]);
  look_up_accounts(request);

  auto session = ask(database_url);
  const Timestamp started_at = postgres::server_time(*session);
  leave_out_foreign(*session, request);
  if (invocation[kBootstrap]) begin_bootstrap(*session);
  options.is_alone = backfill::bootstrap_is_open(*session);
  queue_request(*session, request);
  session.reset();

  app::BackfillRun backfill(std::move(options), system_clock());
  backfill.start();
  const bool stopping = watch_backfill(backfill, every, stop_signal);
  if (stopping) {
    print_progress("stopping: unfinished jobs return to the queue");
  }
  const bool is_done = backfill.is_idle();
  if (!is_done) stop_signal.limit_the_end();
  backfill.stop();
  print_end(backfill.metrics(), !is_done);
  if (const auto reason = backfill.reason_to_stop()) {
    command_line::print_stderr("skua: {}\n", *reason);
    return kFailure;
  }
  if (!is_done) {
    fmt::print(
        "the rest stays queued: `skua backfill` without arguments continues it, and so does "
        "`skua run`\n");
  }
  // The output is flushed before the next statement, which may throw because the database is
  // unreachable.
  std::fflush(stdout);
  session = ask(database_url);
  const bool all_well = print_rest(*session, started_at);
  if (is_done) {
    for (const auto& text : app::send_references(*session, database_url)) print_error(text);
  }
  if (!is_done) print_missing_indexes(*session);
  const bool is_open = backfill::bootstrap_is_open(*session);
  session.reset();
  if (is_done && is_open && !finish_bootstrap(database_url, stop_signal)) return kFailure;
  return all_well && is_done && request.problems == 0 ? kSuccess : kFailure;
}

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

/// Returns the selection of jobs on the command line, without the accounts.
backfill::JobFilter filter_of_jobs(const Invocation& invocation) {
  backfill::JobFilter filter;
  filter.host = invocation[kHost];
  filter.states = invocation[kStates];
  return filter;
}

/// A function that changes jobs or lists and returns their number.
using Change = std::size_t(postgres::Session&, const backfill::JobFilter&, Timestamp);

/// Changes the selected jobs and lists. Accounts that do not resolve are skipped.
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
  postgres::Session session(url, postgres::process_name("skua backfill jobs"));
  // Lists are changed first, because a list that is being read would otherwise queue more
  // repositories.
  const Timestamp now = postgres::server_time(session);
  const std::size_t changed_lists = lists(session, filter, now);
  fmt::print("{} {}\n", counted(jobs(session, filter, now), "repository"), done_to_jobs);
  if (changed_lists > 0) {
    fmt::print("{} of repositories {}\n", counted(changed_lists, "list"), done_to_lists);
  }
  return problems == 0 ? kSuccess : kFailure;
}

int backfill_status(const Invocation& invocation) {
  postgres::Session session = open_state_to_read(invocation, "skua backfill status");
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

CommandSpecs backfill_commands() {
  const OptionUse collections = with_meaning(
      kCollections, "All accounts with records of this collection, according to --relay");
  const OptionUse relay = with_meaning(kRelay, "The relay that --collection and --network ask");
  return {{"backfill",
           "Download and index whole repositories",
           {kWho,
            kFiles,
            kHosts,
            collections,
            kNetwork,
            relay,
            kCars,
            kCarDirs,
            kSinceRev,
            kBootstrap,
            kConcurrency,
            kPerHost,
            kLargestRepository,
            kDatabase,
            kAllowUnsafeDatabase,
            kGroups,
            kDidDocs,
            kVerifyRepository,
            kHandles,
            kDns,
            kPlc,
            kCaFile,
            kAllowPrivateHosts,
            kDecodeThreads,
            kStatsInterval},
           run_backfill}};
}

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
