#include "app/indexer.hpp"

#include <functional>
#include <future>
#include <utility>

#include "app/background_work.hpp"
#include "app/database.hpp"
#include "app/defect.hpp"
#include "app/monitored_backfill.hpp"
#include "app/observe_process.hpp"
#include "app/part_options.hpp"
#include "app/signal_queue.hpp"
#include "backfill/discovery/list_leases.hpp"
#include "backfill/queue/job_leases.hpp"
#include "base/metric_group.hpp"
#include "store/clock_watch.hpp"
#include "store/database_watch.hpp"
#include "store/process_name.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {
namespace {

const std::string kRunRole = "skua run";

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
               .on_defect = on_defect()}),
        work_({.database_url = options_.database_url,
               .consumer_threads = options_.consumer_threads,
               .on_defect = on_defect()},
              filter_, pool_.ids(), clock_watch_.server()) {
    if (!options_.signal_collections.empty()) make_signals();
    for (auto& group : source_groups(options_.sources)) {
      runs_.push_back(std::make_unique<sources::SourceRun>(run_options(std::move(group)), pool_,
                                                           clock_, on_defect()));
    }
    // When the sources are this process's, and before anything of theirs is read.
    filter_watch_ = std::make_unique<filter::FilterWatch>(
        filter::FilterWatch::Options{.database_url = options_.database_url,
                                     .choice = options_.filter,
                                     .on_defect = on_defect()},
        filter_);
    if (options_.discover_labelers) labelers_ = make_labelers();
    if (options_.backfill) backfill_ = make_backfill();
    pool_.start();
    if (options_.check_handles)
      handles_ = std::make_unique<accounts::HandleLookups>(handle_options(options_, on_defect()),
                                                           clock_watch_.server());
    if (options_.plc_tail) plc_tail_ = make_plc_tail();
  }

  ~Impl() {
    // Accounts must not call back into members that are already destroyed.
    if (accounts_) accounts_->stop();
  }

  void start() {
    filter_watch_->start();
    work_.start();
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
    return observe_process(runs_, accounts_.get(), plc_tail_.get(), clock_watch_);
  }

  std::optional<std::string> defect() const { return defect_.get(); }

  std::optional<std::string> database_change() const {
    return store::database_watch().change(options_.database_url);
  }

 private:
  std::function<void(const std::string&)> on_defect() {
    return [this](const std::string& what) { defect_.report(what); };
  }

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
    work_.stop();
    return drained;
  }

  std::unique_ptr<MonitoredBackfill> make_backfill() {
    auto options =
        backfiller_options(*options_.backfill, options_.database_url, kRunRole, *accounts_);
    options.verify = options_.verify.has_value();
    options.resync = options_.verify.has_value();
    options.jobs_clock = &clock_watch_.server();
    return std::make_unique<MonitoredBackfill>(std::move(options), pool_, clock_, on_defect());
  }

  void make_signals() {
    signals_ = std::make_unique<ingest::SignalAccounts>(
        ingest::SignalAccounts::Options{.collections = options_.signal_collections});
    signal_queue_ = std::make_unique<SignalQueue>(
        SignalQueue::Options{.database_url = options_.database_url,
                             .on_queued = [this] { notify_backfill(); },
                             .on_defect = on_defect()},
        *signals_, filter_, clock_watch_.server());
  }

  std::unique_ptr<sources::DiscoveredLabelers> make_labelers() {
    auto options = labeler_options(options_, on_defect());
    options.complete = [this](status::Metrics& metrics) { complete(metrics); };
    return std::make_unique<sources::DiscoveredLabelers>(std::move(options), *accounts_, pool_,
                                                         clock_);
  }

  std::unique_ptr<accounts::PlcTail> make_plc_tail() {
    return std::make_unique<accounts::PlcTail>(
        plc_tail_options(options_, on_defect()),
        [this](std::vector<std::string> dids) {
          if (accounts_) accounts_->table_changed(std::move(dids));
        },
        clock_watch_.server());
  }

  accounts::NetworkAccountsOptions account_options() {
    accounts::NetworkAccountsOptions accounts = options_.accounts;
    accounts.on_defect = on_defect();
    return accounts;
  }

  sources::SourceRunOptions run_options(std::vector<sources::SourceStart> group) {
    const bool verifies = options_.verify && group.front().source->proof() != sources::Proof::None;
    auto run = source_run_options(options_, std::move(group));
    run.accounts = verifies ? accounts_.get() : nullptr;
    run.filter = &filter_;
    run.signals = signals_.get();
    run.complete = [this](status::Metrics& metrics) { complete(metrics); };
    return run;
  }

  void complete(status::Metrics& metrics) const {
    metrics.server_clock_ahead = clock_watch_.server_ahead();
    const auto add = [&](const auto& group) {
      metrics.add(status::MetricScope::Process, values_of(group));
    };
    add(handles_ ? handles_->counters() : accounts::HandleCounters());
    add(pool_.metrics());
    work_.add_metrics(metrics);
    add(signals_ ? signals_->metrics() : ingest::SignalMetrics());
    add(labelers_ ? labelers_->counters() : sources::LabelerMetrics());
    add(plc_tail_ ? plc_tail_->metrics() : accounts::PlcTailMetrics());
  }

  const IndexerOptions options_;
  store::ClockWatch clock_watch_;
  const Clock& clock_;
  Defect defect_;
  filter::CurrentFilter filter_;
  std::unique_ptr<accounts::NetworkAccounts> accounts_;
  std::unique_ptr<accounts::PlcTail> plc_tail_;
  writer::WorkerPool pool_;
  BackgroundWork work_;
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
