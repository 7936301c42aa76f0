#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "accounts.hpp"
#include "app/indexer.hpp"
#include "backfill_request.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "indexer_options.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/database_watch.hpp"
#include "postgres/outage.hpp"
#include "postgres/session.hpp"
#include "run_pages.hpp"
#include "settings.hpp"
#include "status/backfill_text.hpp"
#include "status/database_size.hpp"
#include "status/line_layout.hpp"
#include "status/metrics_text.hpp"
#include "status/rate_window.hpp"
#include "stop_signal.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

const Option<OptionalText> kFilterFile(
    {.name = "--filter-file",
     .type = "FILE",
     .meaning = "File of collections, prefixes and DIDs, one per line; replaces the stored filter "
                "now and when the file changes"});
const Option<Texts> kBackfillWho({.name = "--backfill",
                                  .type = "DID|HANDLE",
                                  .meaning = "Also download the repository of this account"});
const Option<Texts> kBackfillFiles(
    {.name = "--backfill-file",
     .type = "FILE",
     .meaning = "Also download the repositories of these files, one account per line"});
const Option<Texts> kBackfillHosts({.name = "--backfill-host",
                                    .type = "URL",
                                    .meaning = "Also download all repositories of this host"});
const Option<Texts> kBackfillCollections(
    {.name = "--backfill-collection",
     .type = "NSID",
     .meaning = "Also download the repositories of all accounts with records of this collection"});
const Option<bool> kBackfillNetwork(
    {.name = "--backfill-network",
     .meaning = "Also download all repositories of all hosts of the relay"});
const RequestOptions kRequestOfRun{kBackfillWho, kBackfillFiles, kBackfillHosts,
                                   kBackfillCollections, kBackfillNetwork};

/// Returns true if waiting does not help, because the server answers and refuses this user or this
/// database. A server that starts, stops, recovers or is full also reports FATAL, but waiting
/// helps.
bool is_refusal(const postgres::ServerError& error) {
  const std::string_view message = error.what();
  const auto says = [&](std::string_view part) { return message.find(part) != message.npos; };
  return says("FATAL:") && !says("the database system is") && !says("connection slots") &&
         !says("too many") && !says("terminating connection");
}

constexpr std::chrono::seconds kLongestWait{10};

/// Runs a task that needs the database, and repeats it while the server is unavailable. It does so
/// because a booting machine starts its services in any order, and a server may fail at any moment.
/// Returns false if the user requested a stop.
template <class F>
bool with_retry(StopSignal& stop_signal, F&& work) {
  for (std::chrono::seconds wait{1};; wait = std::min(wait * 2, kLongestWait)) {
    try {
      work();
      return true;
    } catch (const postgres::DatabaseChanged&) {
      throw;
    } catch (const postgres::ServerError& error) {
      if (is_refusal(error)) throw;
      postgres::log_retry("skua", "cannot use the database", error);
    }
    if (stop_signal.wait_for(wait)) return false;
  }
}

/// Returns null if the user requested a stop.
std::unique_ptr<app::Indexer> make_indexer(const app::IndexerOptions& options,
                                           StopSignal& stop_signal) {
  std::unique_ptr<app::Indexer> indexer;
  with_retry(stop_signal, [&] {
    for (;;) {
      // No state of an earlier database is in memory yet, so the first database that answers is
      // accepted.
      postgres::database_watch().forget(options.database_url);
      try {
        indexer = std::make_unique<app::Indexer>(options, system_clock());
        return;
      } catch (const postgres::DatabaseChanged& change) {
        logger("skua")->warn("{}: starting again", change.what());
      }
    }
  });
  return indexer;
}

/// Prints the metrics at an interval, with a line about the backfill while it has work.
class MetricsPrinter {
 public:
  MetricsPrinter(const app::Indexer& indexer, const RunPages& pages,
                 const std::string& database_url)
      : indexer_(indexer), pages_(pages), disk_(database_url, system_clock()) {
    rates_.add(pipeline::total(indexer.metrics()), std::nullopt);
    disk_.start();
  }

  void print() {
    const std::vector<pipeline::Metrics> metrics = indexer_.metrics();
    const status::Rates rates = rates_.add(pipeline::total(metrics), disk_.latest());
    print_progress(status::metrics_text(rates, metrics, outage(), pages_.problems()));
    if (const auto moment = indexer_.backfill()) {
      print_progress(status::indented({status::backfill_summary(*moment)}));
    }
  }

 private:
  /// Returns the current outage. A server that accepts connections but does not answer counts as
  /// unreachable.
  std::optional<postgres::Outage> outage() const {
    if (auto outage = postgres::outage_monitor().current()) return outage;
    if (const auto since = disk_.unanswered_since()) return postgres::Outage{*since, "no answer"};
    return std::nullopt;
  }

  const app::Indexer& indexer_;
  const RunPages& pages_;
  status::RateWindow rates_;
  status::DatabaseSize disk_;
};

/// The reason why a run of the indexer ended.
enum class RunEnd : std::uint8_t {
  /// A stop was requested, or the indexer cannot continue.
  Stop,
  /// The data in memory belongs to another database than the one that answers.
  OtherDatabase,
};

/// Queues the backfill of the command line. Returns false if the user requested a stop.
bool queue_with_retry(const app::IndexerOptions& options, const BackfillRequest& request,
                      StopSignal& stop_signal) {
  return with_retry(stop_signal, [&] {
    postgres::Session session(options.database_url, postgres::process_name("skua run ask"));
    app::Indexer::release_backfill(session, system_clock());
    queue_request(session, request);
  });
}

RunEnd watch_run(const app::Indexer& indexer, const std::string& database_url,
                 std::chrono::seconds every, StopSignal& stop_signal, RunPages& pages) {
  constexpr std::chrono::milliseconds kStopCheckInterval{250};
  MetricsPrinter printer(indexer, pages, database_url);
  pages::Heartbeat& heartbeat = pages.main_loop();
  const auto ends = [&] { return indexer.fatal_error() || indexer.database_change(); };
  bool stopping = false;
  while (!stopping && !ends()) {
    // The waits are short, so that a fatal error is noticed soon. A line is printed only once per
    // interval.
    for (auto waited = std::chrono::milliseconds(0); waited < every && !stopping;
         waited += kStopCheckInterval) {
      heartbeat.beat(std::chrono::steady_clock::now());
      stopping = stop_signal.wait_for(kStopCheckInterval) || ends();
    }
    printer.print();
  }
  heartbeat.rest();
  const bool was_asked = stop_signal.wait_for(std::chrono::milliseconds(0));
  return was_asked || indexer.fatal_error() ? RunEnd::Stop : RunEnd::OtherDatabase;
}

/// Stops the indexer, and returns the result as the exit code.
int end_run(app::Indexer& indexer, StopSignal& stop_signal) {
  print_progress("stopping: finishing the events in flight");
  stop_signal.limit_the_end();
  const bool clean = indexer.stop();
  const auto metrics = indexer.metrics();
  const pipeline::Metrics end = pipeline::total(metrics);
  std::string line =
      fmt::format("stopped {}: {}, {}, {}",
                  clean ? "cleanly" : "with work unfinished, which the next start repeats",
                  counted(end.count("frames"), "frame"), counted(end.count("events"), "event"),
                  counted(end.count("rows"), "row"));
  for (const pipeline::Metrics& one : metrics) {
    line += fmt::format(", {}cursor {}", metrics.size() > 1 ? one.source + " " : "",
                        one.cursor ? std::to_string(*one.cursor) : "-");
  }
  print_last_line(line);
  if (const auto error = indexer.fatal_error()) {
    print_error(*error);
    return kFailure;
  }
  return clean ? kSuccess : kFailure;
}

/// Ensures that the pages stop using an indexer before the indexer ends.
class ShownIndexer {
 public:
  explicit ShownIndexer(RunPages& pages) : pages_(pages) {}
  ~ShownIndexer() { pages_.show(nullptr); }
  ShownIndexer(const ShownIndexer&) = delete;
  ShownIndexer& operator=(const ShownIndexer&) = delete;

 private:
  RunPages& pages_;
};

/// Runs the indexer once, from the stored state. Returns nothing if the database has been replaced;
/// the next run then starts with `options`.
std::optional<int> run_once(app::IndexerOptions& options, const BackfillRequest& request,
                            std::chrono::seconds every, StopSignal& stop_signal, RunPages& pages) {
  const auto indexer = make_indexer(options, stop_signal);
  if (!indexer) return kSuccess;
  const ShownIndexer shown(pages);
  RunEnd end = RunEnd::OtherDatabase;
  try {
    if (!queue_with_retry(options, request, stop_signal)) return kSuccess;
    print_progress(fmt::format("indexing {}{}; Ctrl-C stops",
                               sources_text(options.sources, options.verify),
                               options.discover_labelers ? " and discovered labelers" : ""));
    indexer->start();
    pages.show(indexer.get());
    end = watch_run(*indexer, options.database_url, every, stop_signal, pages);
  } catch (const postgres::DatabaseChanged&) {
    // The database may be replaced between two connections of the start.
  }
  if (end == RunEnd::Stop) {
    pages.show_end(indexer.get());
    return end_run(*indexer, stop_signal);
  }
  pages.show(nullptr);
  logger("skua")->warn(
      "the database has changed: {}; discarding the state in memory, each source continues at its "
      "stored cursor",
      indexer->database_change().value_or("for a moment another one answered"));
  indexer->drop();
  options.sources = indexer->resumed_sources();
  return std::nullopt;
}

RunningSettings running_settings(const app::IndexerOptions& options) {
  RunningSettings running{
      .process = postgres::process_token(),
      .verify = std::string(verify_name(options.verify)),
      .plc = options.accounts.plc_url,
      .ca_file = options.ca_file.empty() ? "" : std::filesystem::absolute(options.ca_file).string(),
      .allow_unsafe_database = options.durability == app::Durability::Any};
  for (const auto& [source, cursor] : options.sources) {
    running.sources.push_back({std::string(source->kind()), source->url()});
  }
  return running;
}

int run_indexer(const Invocation& invocation) {
  StopSignal stop_signal;
  app::IndexerOptions options = indexer_options(invocation);
  const std::chrono::seconds every = invocation[kStatsInterval];
  BackfillRequest request = backfill_request(invocation, kRequestOfRun);
  options.filter = filter_choice(invocation, kFilterFile);
  look_up_accounts(request);
  RunPages pages(invocation, options.database_url, to_json(running_settings(options)));
  for (;;) {
    if (const auto code = run_once(options, request, every, stop_signal, pages)) return *code;
  }
}

}  // namespace

CommandSpecs run_commands() {
  const OptionUse collections =
      with_meaning(kCollections,
                   "Store only this collection, or a prefix such as app.bsky.graph.*; "
                   "replaces the stored filter (see skua filter)");
  const OptionUse dids =
      with_meaning(kDids,
                   "Store only the records of this account (DID, handle, at:// URI, bsky.app "
                   "URL); replaces the stored filter");
  const std::vector<OptionUse> sources = {
      kRelay,           kFailoverAfter, kFailbackAfter, kFailoverMargin,   kTap,
      kTapPasswordFile, kJetstream,     kLabeler,       kDiscoverLabelers, kMaxDiscoveredLabelers};
  const std::vector<OptionUse> records = {kSignalCollection, collections,     dids,
                                          kFilterFile,       kZstdDictionary, kCursor};
  const std::vector<OptionUse> accounts = {kVerify, kResync, kAuditEvery,        kHandles, kDns,
                                           kPlc,    kCaFile, kAllowPrivateHosts, kPlcTail};
  const std::vector<OptionUse> process = {
      kDatabase,      kAllowUnsafeDatabase, kGroups,        kDecodeThreads,
      kStatsInterval, kConsumerThreads,     kHttp,          kHttpHost,
      kBehindAfter,   kQuietAfter,          kAdminTokenFile};
  const std::vector<OptionUse> backfill = {
      kBackfillWho,     kBackfillFiles, kBackfillHosts, kBackfillCollections,
      kBackfillNetwork, kConcurrency,   kPerHost,       kLargestRepository};
  CommandSpec run{"run", "Index live sources until stopped", sources, run_indexer};
  for (const auto* more : {&records, &accounts, &process, &backfill}) {
    run.options.insert(run.options.end(), more->begin(), more->end());
  }
  return {run};
}

}  // namespace skua::cli
