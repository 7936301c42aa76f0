#include "app/indexer.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "accounts/handle_lookups.hpp"
#include "accounts/plc_tail.hpp"
#include "app/database.hpp"
#include "app/defect.hpp"
#include "app/monitored_backfill.hpp"
#include "app/observe_process.hpp"
#include "app/signal_queue.hpp"
#include "backfill/discovery/list_leases.hpp"
#include "backfill/queue/job_leases.hpp"
#include "base/metric_group.hpp"
#include "feed/consumers/consumer_pool.hpp"
#include "feed/log_maintenance.hpp"
#include "recheck/rechecker.hpp"
#include "retention/remover.hpp"
#include "sources/labeler/discovery/discovered_labelers.hpp"
#include "sources/source_run.hpp"
#include "store/clock_watch.hpp"
#include "store/database_watch.hpp"
#include "store/process_name.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {
namespace {

const std::string kRunRole = "skua run";

/// Sources that stand by for each other are one group; all others are on their own.
std::vector<std::vector<sources::SourceStart>> groups_of(
    const std::vector<sources::SourceStart>& starts) {
  std::vector<std::vector<sources::SourceStart>> groups;
  for (const sources::SourceStart& start : starts) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& other) {
      return start.source->has_standbys() && other.front().source->kind() == start.source->kind();
    });
    if (group != groups.end()) {
      group->push_back(start);
    } else {
      groups.push_back({start});
    }
  }
  return groups;
}

}  // namespace

class Indexer::Impl {
 public:
  Impl(IndexerOptions options, const Clock& clock)
      : options_(std::move(options)),
        clock_watch_({.database_url = options_.database_url}, clock),
        clock_(clock_watch_.latest()),
        accounts_(options_.verify || options_.backfill || options_.discover_labelers
                      ? std::make_unique<accounts::NetworkAccounts>(account_options(),
                                                                    clock_watch_.server())
                      : nullptr),
        pool_({.database_url = options_.database_url,
               .server_clock = clock_watch_.server(),
               .on_defect = [this](const std::string& what) { defect_.report(what); }}) {
    if (!options_.signal_collections.empty()) make_signals();
    for (auto& group : groups_of(options_.sources)) {
      runs_.push_back(std::make_unique<sources::SourceRun>(
          run_options(std::move(group)), pool_, clock_,
          [this](const std::string& what) { defect_.report(what); }));
    }
    // When the sources are this process's, and before anything of theirs is read.
    filter_watch_ = std::make_unique<filter::FilterWatch>(
        filter::FilterWatch::Options{
            .database_url = options_.database_url,
            .choice = options_.filter,
            .on_defect = [this](const std::string& what) { defect_.report(what); }},
        filter_);
    if (options_.discover_labelers) labelers_ = make_labelers();
    if (options_.backfill) backfill_ = make_backfill();
    pool_.start();
    log_maintenance_ = std::make_unique<feed::LogMaintenance>(feed::LogMaintenance::Options{
        .database_url = options_.database_url,
        .on_defect = [this](const std::string& what) { defect_.report(what); }});
    remover_ = std::make_unique<retention::Remover>(
        retention::Remover::Options{
            .database_url = options_.database_url,
            .on_defect = [this](const std::string& what) { defect_.report(what); }},
        filter_);
    rechecker_ = std::make_unique<recheck::Rechecker>(
        recheck::Rechecker::Options{
            .database_url = options_.database_url,
            .on_defect = [this](const std::string& what) { defect_.report(what); }},
        pool_.ids(), clock_watch_.server());
    consumers_ = std::make_unique<feed::ConsumerPool>(feed::ConsumerPool::Options{
        .database_url = options_.database_url,
        .threads = options_.consumer_threads,
        .on_defect = [this](const std::string& what) { defect_.report(what); }});
    if (options_.check_handles)
      handles_ = std::make_unique<accounts::HandleLookups>(handle_options(), clock_watch_.server());
    if (options_.plc_tail) plc_tail_ = make_plc_tail();
  }

  ~Impl() {
    // Whoever finds documents answers to what is still there.
    if (accounts_) accounts_->stop();
  }

  void start() {
    filter_watch_->start();
    log_maintenance_->start();
    remover_->start();
    rechecker_->start();
    consumers_->start();
    if (plc_tail_) plc_tail_->start();
    if (backfill_) backfill_->start();
    if (signal_queue_) signal_queue_->start();
    for (const auto& run : runs_) run->start();
    if (labelers_) labelers_->start();
  }

  void notify_backfill() {
    if (backfill_) backfill_->backfiller.notify();
  }

  bool stop() {
    const bool drained = end(defect() ? std::chrono::milliseconds(0) : options_.drain_timeout);
    bool saved = true;
    for (const auto& run : runs_) saved = run->save() && saved;
    if (labelers_) saved = labelers_->save() && saved;
    return drained && saved;
  }

  void drop() {
    end(std::chrono::milliseconds(0));
    for (const auto& run : runs_) run->drop();
    if (labelers_) labelers_->drop();
  }

  std::vector<sources::SourceStart> resumed_sources() const {
    std::vector<sources::SourceStart> sources;
    for (const auto& run : runs_) {
      for (auto& start : run->resumed_sources()) sources.push_back(std::move(start));
    }
    return sources;
  }

  std::vector<status::Metrics> metrics() const {
    std::vector<status::Metrics> all;
    for (const auto& run : runs_) {
      for (status::Metrics& metrics : run->metrics()) all.push_back(std::move(metrics));
    }
    if (labelers_) all.push_back(labelers_->metrics());
    return all;
  }

  std::optional<status::BackfillSnapshot> backfill() const {
    if (!backfill_ || backfill_->backfiller.is_idle()) return std::nullopt;
    return backfill_->monitor.moment();
  }

  pages::ProcessState process_state() const {
    pages::ProcessState state = observe_process(runs_, accounts_.get(), clock_watch_);
    if (plc_tail_) {
      const auto failures = plc_tail_->failures();
      state.plc_tail_failures = failures.count;
      state.plc_tail_failed_at = failures.latest;
    }
    return state;
  }

  std::optional<std::string> defect() const { return defect_.get(); }

  std::optional<std::string> database_change() const {
    return store::database_watch().change(options_.database_url);
  }

 private:
  /// All but the cursor. False: something was left unfinished. `patience`: after a defect a worker
  /// is gone, and what it had is never finished.
  bool end(std::chrono::milliseconds patience) {
    filter_watch_->stop();
    for (const auto& run : runs_) run->close();
    if (labelers_) labelers_->close();
    // At the same time as the streams are drained: both wait for the database.
    const auto backfill_closed = std::async(std::launch::async, [this] {
      if (backfill_) backfill_->backfiller.close();
    });
    const auto deadline = std::chrono::steady_clock::now() + patience;
    bool drained = true;
    for (const auto& run : runs_) drained = run->drain(deadline) && drained;
    if (labelers_) drained = labelers_->drain(deadline) && drained;
    backfill_closed.wait();
    // When nothing is decoded any more, and before the database may be gone for long.
    if (signal_queue_) signal_queue_->stop();
    pool_.end(drained);
    for (const auto& run : runs_) run->end();
    if (labelers_) labelers_->end();
    if (plc_tail_) plc_tail_->stop();
    if (accounts_) accounts_->stop();
    if (backfill_) backfill_->stop();
    if (handles_) handles_->stop();
    log_maintenance_->stop();
    remover_->stop();
    rechecker_->stop();
    consumers_->stop();
    return drained;
  }

  std::unique_ptr<MonitoredBackfill> make_backfill() {
    auto options =
        backfiller_options(*options_.backfill, options_.database_url, kRunRole, *accounts_);
    options.verify = options_.verify.has_value();
    options.resync = options_.verify.has_value();
    options.jobs_clock = &clock_watch_.server();
    return std::make_unique<MonitoredBackfill>(
        std::move(options), pool_, clock_,
        [this](const std::string& what) { defect_.report(what); });
  }

  void make_signals() {
    signals_ = std::make_unique<ingest::SignalAccounts>(
        ingest::SignalAccounts::Options{.collections = options_.signal_collections});
    signal_queue_ = std::make_unique<SignalQueue>(
        SignalQueue::Options{
            .database_url = options_.database_url,
            .on_queued = [this] { notify_backfill(); },
            .on_defect = [this](const std::string& what) { defect_.report(what); }},
        *signals_, filter_, clock_watch_.server());
  }

  std::unique_ptr<sources::DiscoveredLabelers> make_labelers() {
    sources::DiscoveredLabelers::Options options{
        .database_url = options_.database_url,
        .limits = *options_.discover_labelers,
        .ca_file = options_.ca_file,
        .allow_private_hosts = options_.accounts.allow_private_hosts,
        .complete = [this](status::Metrics& metrics) { complete(metrics); },
        .on_defect = [this](const std::string& what) { defect_.report(what); }};
    options.limits.allow_insecure = options.allow_private_hosts;
    for (const auto& start : options_.sources) options.named.insert(start.source->name());
    return std::make_unique<sources::DiscoveredLabelers>(std::move(options), *accounts_, pool_,
                                                         clock_);
  }

  std::unique_ptr<accounts::PlcTail> make_plc_tail() {
    return std::make_unique<accounts::PlcTail>(
        accounts::PlcTail::Options{
            .database_url = options_.database_url,
            .plc_url = options_.accounts.plc_url,
            .ca_file = options_.ca_file,
            .on_defect = [this](const std::string& what) { defect_.report(what); }},
        [this](std::vector<std::string> dids) {
          if (accounts_) accounts_->table_changed(std::move(dids));
        },
        clock_watch_.server());
  }

  accounts::NetworkAccountsOptions account_options() {
    accounts::NetworkAccountsOptions accounts = options_.accounts;
    accounts.on_defect = [this](const std::string& what) { defect_.report(what); };
    return accounts;
  }

  accounts::HandleLookups::Options handle_options() {
    return {.dns = *options_.check_handles,
            .ca_file = options_.ca_file,
            .allow_private_hosts = options_.accounts.allow_private_hosts,
            .verifier = {.database_url = options_.database_url,
                         .on_defect = [this](const std::string& what) { defect_.report(what); }}};
  }

  sources::SourceRunOptions run_options(std::vector<sources::SourceStart> group) {
    const bool verifies = options_.verify && group.front().source->proof() != sources::Proof::None;
    return {.database_url = options_.database_url,
            .sources = std::move(group),
            .fail_over = options_.fail_over,
            .margin = options_.fail_over_margin,
            .accounts = verifies ? accounts_.get() : nullptr,
            .level = options_.verify.value_or(verify::Level::Full),
            .resync = options_.resync,
            .ca_file = options_.ca_file,
            .decode_threads = options_.decode_threads,
            .in_flight = options_.in_flight,
            .cursor_interval = options_.cursor_interval,
            .read_timeout = options_.read_timeout,
            .filter = &filter_,
            .signals = signals_.get(),
            .complete = [this](status::Metrics& metrics) { complete(metrics); }};
  }

  void complete(status::Metrics& metrics) const {
    metrics.server_clock_ahead = clock_watch_.server_ahead();
    metrics.add(status::MetricScope::Process,
                values_of(handles_ ? handles_->counters() : accounts::HandleCounters()));
    metrics.add(status::MetricScope::Process, values_of(pool_.metrics()));
    metrics.add(status::MetricScope::Process,
                values_of(log_maintenance_ ? log_maintenance_->metrics() : feed::LogMetrics()));
    metrics.add(status::MetricScope::Process,
                values_of(consumers_ ? consumers_->metrics() : feed::ConsumerMetrics()));
    metrics.add(status::MetricScope::Process,
                values_of(remover_ ? remover_->metrics() : retention::RemovalMetrics()));
    metrics.add(status::MetricScope::Process,
                values_of(rechecker_ ? rechecker_->metrics() : recheck::RecheckMetrics()));
    metrics.add(status::MetricScope::Process,
                values_of(signals_ ? signals_->metrics() : ingest::SignalMetrics()));
    metrics.add(status::MetricScope::Process,
                values_of(labelers_ ? labelers_->counters() : sources::LabelerMetrics()));
                values_of(plc_tail_ ? plc_tail_->metrics() : accounts::PlcTailMetrics()));
  }

  const IndexerOptions options_;
  store::ClockWatch clock_watch_;
  const Clock& clock_;
  Defect defect_;
  filter::CurrentFilter filter_;
  std::unique_ptr<accounts::NetworkAccounts> accounts_;
  std::unique_ptr<accounts::PlcTail> plc_tail_;
  writer::WorkerPool pool_;
  std::unique_ptr<feed::LogMaintenance> log_maintenance_;
  std::unique_ptr<retention::Remover> remover_;
  std::unique_ptr<recheck::Rechecker> rechecker_;
  std::unique_ptr<feed::ConsumerPool> consumers_;
  std::unique_ptr<MonitoredBackfill> backfill_;
  std::unique_ptr<accounts::HandleLookups> handles_;
  /// Null: no collection is a signal.
  std::unique_ptr<ingest::SignalAccounts> signals_;
  std::unique_ptr<SignalQueue> signal_queue_;
  std::vector<std::unique_ptr<sources::SourceRun>> runs_;
  /// Null: labelers are not discovered.
  std::unique_ptr<sources::DiscoveredLabelers> labelers_;
  std::unique_ptr<filter::FilterWatch> filter_watch_;
};

Indexer::Indexer(IndexerOptions options, const Clock& clock) {
  check_database_to_write(options.database_url, options.durability);
  impl_ = std::make_unique<Impl>(std::move(options), clock);
}

Indexer::~Indexer() = default;

void Indexer::start() {
  impl_->start();
}

bool Indexer::stop() {
  return impl_->stop();
}

std::optional<std::string> Indexer::database_change() const {
  return impl_->database_change();
}

void Indexer::drop() {
  impl_->drop();
}

std::vector<sources::SourceStart> Indexer::resumed_sources() const {
  return impl_->resumed_sources();
}

void Indexer::release_backfill(store::Session& session, const Clock& clock) {
  const std::string lease_owner = store::process_name(kRunRole);
  backfill::release_jobs(session, lease_owner);
  backfill::release_lists(session, lease_owner, clock.now());
}

void Indexer::notify_backfill() {
  impl_->notify_backfill();
}

std::optional<status::BackfillSnapshot> Indexer::backfill() const {
  return impl_->backfill();
}

std::vector<status::Metrics> Indexer::metrics() const {
  return impl_->metrics();
}

pages::ProcessState Indexer::process_state() const {
  return impl_->process_state();
}

std::optional<std::string> Indexer::defect() const {
  return impl_->defect();
}

}  // namespace skua::app
