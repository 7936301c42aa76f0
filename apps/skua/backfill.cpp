#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "accounts.hpp"
#include "app/backfill_run.hpp"
#include "app/database.hpp"
#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "backfill/discovery/list_counts.hpp"
#include "backfill/queue/job_counts.hpp"
#include "backfill/queue/job_table.hpp"
#include "backfill_request.hpp"
#include "base/count_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "progress.hpp"
#include "settings.hpp"
#include "stop_signal.hpp"
#include "store/process_name.hpp"
#include "store/server_clock.hpp"
#include "store/session.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

const Option<bool> kBootstrap(
    {.name = "--bootstrap",
     .meaning = "For an empty database: build most indexes at the end; `skua run` refuses to start "
                "until then"});

constexpr std::chrono::milliseconds kBuildPoll{20};

std::unique_ptr<store::Session> ask(const std::string& database_url) {
  return std::make_unique<store::Session>(database_url, store::process_name("skua backfill ask"));
}

void begin_bootstrap(store::Session& session) {
  const std::size_t dropped = backfill::begin_bootstrap(session);
  if (dropped > 0) {
    print_progress(fmt::format("bootstrap: {} to be built at the end; no `skua run` until then",
                               counted(dropped, "index")));
  } else {
    print_progress("bootstrap: continuing the one that was started");
  }
}

/// Prints how many indexes are missing and which command builds them; nothing if all exist.
void print_missing_indexes(store::Session& session) {
  const std::size_t missing = backfill::missing_indexes(session);
  if (missing == 0) return;
  fmt::print(
      "the bootstrap is not over, it has {} to build: `skua backfill` without arguments continues "
      "it, and `skua run` does not start before its end\n",
      counted(missing, "index"));
}

/// Builds the indexes that a bootstrap dropped. False: it was stopped, or a build failed; another
/// call continues.
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
  } catch (const store::SqlError& error) {
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
    if (lists.surplus > 0) {
      fmt::print("{} left out: their hosts name far more accounts than were announced\n",
                 counted(lists.surplus, "entry"));
    }
  }
}

/// Prints what was not stored; true: no permanent failure.
bool print_rest(store::Session& session, Timestamp started_at) {
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
  look_up_accounts(request);

  auto session = ask(database_url);
  const Timestamp started_at = store::server_time(*session);
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
  // Print everything before an exception reports that the database is unreachable.
  std::fflush(stdout);
  session = ask(database_url);
  const bool all_well = print_rest(*session, started_at);
  if (!is_done) print_missing_indexes(*session);
  const bool is_open = backfill::bootstrap_is_open(*session);
  session.reset();
  if (is_done && is_open && !finish_bootstrap(database_url, stop_signal)) return kFailure;
  return all_well && is_done && request.problems == 0 ? kSuccess : kFailure;
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

}  // namespace skua::cli
