#include "app/indexer.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <type_traits>
#include <utility>

#include <boost/range/adaptor/reversed.hpp>

#include "app/backfill_run.hpp"
#include "app/consumer_parts.hpp"
#include "app/database.hpp"
#include "app/observe_process.hpp"
#include "app/part_list.hpp"
#include "app/signal_queue.hpp"
#include "backfill/discovery/list_table.hpp"
#include "backfill/queue/job_leases.hpp"
#include "base/metric.hpp"
#include "ids/reference_sender.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/database_watch.hpp"
#include "postgres/runtime.hpp"
#include "postgres/server_clock.hpp"
#include "recheck/recheck.hpp"
#include "retention/removal.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {

namespace {

const std::string kRunRole = "skua run";

}  // namespace

std::vector<std::vector<sources::SourceStart>> source_groups(
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

sources::SourceRunOptions source_run_options(const IndexerOptions& options,
                                             std::vector<sources::SourceStart> group) {
  return {.sources = std::move(group),
          .fail_over = options.fail_over,
          .margin = options.fail_over_margin,
          .level = options.verify.value_or(verify::Level::Full),
          .resync = options.resync,
          .repairs = options.verify && options.backfill,
          .ca_file = options.ca_file,
          .decode_threads = options.decode_threads,
          .in_flight = options.in_flight,
          .cursor_interval = options.cursor_interval,
          .read_timeout = options.read_timeout};
}

accounts::HandleLookups::Options handle_options(const IndexerOptions& options) {
  return {.dns = options.check_handles.value(),
          .ca_file = options.ca_file,
          .allow_private_hosts = options.accounts.allow_private_hosts};
}

accounts::PlcTail::Options plc_tail_options(const IndexerOptions& options) {
  return {.plc_url = options.accounts.plc_url, .ca_file = options.ca_file};
}

sources::DiscoveredLabelers::Options labeler_options(const IndexerOptions& options) {
  sources::DiscoveredLabelers::Options labelers{
      .limits = options.discover_labelers.value(),
      .ca_file = options.ca_file,
      .allow_private_hosts = options.accounts.allow_private_hosts};
  labelers.limits.allow_insecure = labelers.allow_private_hosts;
  for (const auto& start : options.sources) labelers.named.insert(start.source->name());
  return labelers;
}

class Indexer::Impl {
 public:
  Impl(IndexerOptions options, const atproto::GroupSet& owned, const Clock& clock)
      : options_(std::move(options)),
        owned_(owned),
        clock_watch_({.database_url = options_.database_url}, clock),
        runtime_(options_.database_url, clock_watch_.clocks()),
        accounts_(options_.verify || options_.backfill || options_.discover_labelers
                      ? std::make_unique<accounts::NetworkAccounts>(account_options(),
                                                                    runtime_.clocks.server)
                      : nullptr),
        pool_(runtime_),
        remover_(runtime_, filter_),
        rechecker_(runtime_, pool_.ids()),
        references_(runtime_),
        consumers_(runtime_, options_.consumer_threads) {
    if (!options_.signal_collections.empty()) make_signals();
    for (auto& group : source_groups(options_.sources)) {
      runs_.push_back(
          std::make_unique<sources::SourceRun>(runtime_, run_options(std::move(group)), pool_));
    }
    // The watch is created after this process has taken its sources, and before it reads anything
    // from them.
    filter_watch_ = std::make_unique<filter::FilterWatch>(
        runtime_, filter::FilterWatch::Options{.choice = options_.filter}, filter_);
    if (options_.discover_labelers) labelers_ = make_labelers();
    if (options_.backfill) backfill_ = make_backfill();
    pool_.start();
    if (options_.check_handles) {
      handles_ = std::make_unique<accounts::HandleLookups>(runtime_, handle_options(options_));
    }
    if (options_.plc_tail) plc_tail_ = make_plc_tail();
    list_parts();
  }

  ~Impl() {
    // The accounts part is stopped first, because it must not call members that are already
    // destroyed.
    if (accounts_) accounts_->stop();
  }

  void start() { parts_.start(); }

  bool stop() {
    // After a fatal error a worker has ended and never finishes its events, so the stop does not
    // wait for them.
    return parts_.stop(fatal_error() ? std::chrono::milliseconds(0) : options_.drain_timeout);
  }

  void drop() { parts_.drop(); }

  void notify_backfill() {
    if (backfill_) backfill_->backfiller.notify();
  }

  std::vector<sources::SourceStart> resumed_sources() const {
    std::vector<sources::SourceStart> sources;
    for (const auto& run : runs_) {
      for (auto& start : run->resumed_sources()) sources.push_back(std::move(start));
    }
    return sources;
  }

  std::vector<pipeline::Metrics> metrics() const {
    std::vector<pipeline::Metrics> all;
    for (const auto& run : runs_) {
      for (pipeline::Metrics& metrics : run->metrics()) all.push_back(std::move(metrics));
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

  std::optional<std::string> fatal_error() const { return runtime_.fatal_error(); }

  std::optional<std::string> database_change() const {
    return postgres::database_watch().change(options_.database_url);
  }

 private:
  /// Lists the parts in the order of their start. A stop goes through them in the reverse order:
  /// first the intake; then the workers, once no more frames are decoded; then the parts that the
  /// workers use.
  void list_parts() {
    parts_.add({.start = [this] { consumers_.start(); },
                .end = [this](bool) { consumers_.stop(); },
                .add_metrics =
                    [this](pipeline::Metrics& metrics) {
                      metrics.add(pipeline::MetricScope::Process, consumers_.metrics());
                    }});
    add_threads(&rechecker_, &recheck::Rechecker::metrics);
    add_threads(&remover_, &retention::Remover::metrics);
    add_threads(&references_, &ids::ReferenceSender::metrics);
    parts_.add({.end =
                    [this](bool) {
                      if (handles_) handles_->stop();
                    },
                .add_metrics = metrics_of(handles_.get(), &accounts::HandleLookups::counters)});
    if (backfill_) add_backfill();
    if (accounts_) parts_.add({.end = [this](bool) { accounts_->stop(); }});
    add_threads(plc_tail_.get(), &accounts::PlcTail::metrics);
    if (labelers_) add_intake(*labelers_);
    for (const auto& run : boost::adaptors::reverse(runs_)) add_intake(*run);
    parts_.add({.end = [this](bool is_drained) { pool_.end(is_drained); },
                .add_metrics = metrics_of(&pool_, &writer::WorkerPool::metrics)});
    add_threads(signal_queue_.get(), &SignalQueue::metrics);
    parts_.add(
        {.start = [this] { filter_watch_->start(); },
         .close = [this] { filter_watch_->stop(); },
         .add_metrics = metrics_of(labelers_.get(), &sources::DiscoveredLabelers::counters)});
  }

  /// Returns a function that adds the metrics of a part. If there is no part, they are 0.
  template <class T, class Read>
  static std::function<void(pipeline::Metrics&)> metrics_of(const T* part, Read read) {
    return [part, read](pipeline::Metrics& metrics) {
      using Values = std::remove_cvref_t<std::invoke_result_t<Read, const T&>>;
      metrics.add(pipeline::MetricScope::Process,
                  part != nullptr ? values_of(std::invoke(read, *part)) : values_of(Values()));
    };
  }

  /// Adds a part with threads. If the part is null, only its metrics are added, and they are 0.
  template <class T, class Read>
  void add_threads(T* part, Read read) {
    parts_.add({.start =
                    [part] {
                      if (part != nullptr) part->start();
                    },
                .end =
                    [part](bool) {
                      if (part != nullptr) part->stop();
                    },
                .add_metrics = metrics_of<std::remove_const_t<T>>(part, read)});
  }

  /// Adds a part that takes messages.
  template <class T>
  void add_intake(T& part) {
    parts_.add({.start = [&part] { part.start(); },
                .close = [&part] { part.close(); },
                .drain = [&part](Part::Deadline deadline) { return part.drain(deadline); },
                .end = [&part](bool) { part.end(); },
                .save = [&part] { return part.save(); },
                .drop = [&part] { part.drop(); }});
  }

  void add_backfill() {
    parts_.add({.start = [this] { backfill_->start(); },
                // The backfill closes while the streams are drained, because both wait for the
                // database.
                .close =
                    [this] {
                      backfill_closed_ =
                          std::async(std::launch::async, [this] { backfill_->backfiller.close(); });
                    },
                .drain =
                    [this](Part::Deadline) {
                      backfill_closed_.wait();
                      return true;
                    },
                .end = [this](bool) { backfill_->stop(); }});
  }

  std::unique_ptr<MonitoredBackfill> make_backfill() {
    auto options = backfiller_options(*options_.backfill, kRunRole, *accounts_);
    options.verify = options_.verify.has_value();
    options.resync = options_.verify.has_value();
    return std::make_unique<MonitoredBackfill>(runtime_, std::move(options), pool_);
  }

  void make_signals() {
    signals_ = std::make_unique<pipeline::SignalAccounts>(
        pipeline::SignalAccounts::Options{.collections = options_.signal_collections});
    signal_queue_ = std::make_unique<SignalQueue>(
        runtime_, SignalQueue::Options{.on_queued = [this] { notify_backfill(); }}, *signals_,
        filter_);
  }

  std::unique_ptr<sources::DiscoveredLabelers> make_labelers() {
    auto options = labeler_options(options_);
    options.complete = [this](pipeline::Metrics& metrics) { complete(metrics); };
    return std::make_unique<sources::DiscoveredLabelers>(runtime_, std::move(options), *accounts_,
                                                         pool_);
  }

  std::unique_ptr<accounts::PlcTail> make_plc_tail() {
    return std::make_unique<accounts::PlcTail>(runtime_, plc_tail_options(options_),
                                               [this](std::vector<std::string> dids) {
                                                 if (accounts_)
                                                   accounts_->table_changed(std::move(dids));
                                               });
  }

  accounts::NetworkAccountsOptions account_options() {
    accounts::NetworkAccountsOptions accounts = options_.accounts;
    accounts.on_fatal = [this](const std::string& what) { runtime_.fatal(what); };
    return accounts;
  }

  sources::SourceRunOptions run_options(std::vector<sources::SourceStart> group) {
    const bool verifies = options_.verify && group.front().source->proof() != sources::Proof::None;
    auto run = source_run_options(options_, std::move(group));
    run.accounts = verifies ? accounts_.get() : nullptr;
    run.groups = owned_;
    run.filter = &filter_;
    run.signals = signals_.get();
    run.complete = [this](pipeline::Metrics& metrics) { complete(metrics); };
    return run;
  }

  void complete(pipeline::Metrics& metrics) const {
    metrics.server_clock_ahead = clock_watch_.server_ahead();
    parts_.add_metrics(metrics);
  }

  const IndexerOptions options_;
  /// The groups of accounts that the database owns.
  const atproto::GroupSet owned_;
  postgres::ClockWatch clock_watch_;
  postgres::Runtime runtime_;
  /// The list is declared before the parts, and so destroyed after them, because the cursors are
  /// saved with the metrics of all parts.
  PartList parts_;
  filter::CurrentFilter filter_;
  std::unique_ptr<accounts::NetworkAccounts> accounts_;
  /// Null if the identities are not kept current.
  std::unique_ptr<accounts::PlcTail> plc_tail_;
  writer::WorkerPool pool_;
  retention::Remover remover_;
  recheck::Rechecker rechecker_;
  ids::ReferenceSender references_;
  ConsumerParts consumers_;
  std::unique_ptr<MonitoredBackfill> backfill_;
  std::future<void> backfill_closed_;
  std::unique_ptr<accounts::HandleLookups> handles_;
  /// Null if no collection is a signal collection.
  std::unique_ptr<pipeline::SignalAccounts> signals_;
  std::unique_ptr<SignalQueue> signal_queue_;
  std::vector<std::unique_ptr<sources::SourceRun>> runs_;
  /// Null if labelers are not discovered.
  std::unique_ptr<sources::DiscoveredLabelers> labelers_;
  std::unique_ptr<filter::FilterWatch> filter_watch_;
};

Indexer::Indexer(IndexerOptions options, const Clock& clock) {
  check_database_to_write(options.database_url, options.durability);
  const atproto::GroupSet owned = state_groups(options.database_url, options.groups);
  impl_ = std::make_unique<Impl>(std::move(options), owned, clock);
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

void Indexer::release_backfill(postgres::Session& session, const Clock& clock) {
  const std::string lease_owner = postgres::process_name(kRunRole);
  backfill::release_jobs(session, lease_owner);
  backfill::release_lists(session, lease_owner, clock.now());
}

void Indexer::notify_backfill() {
  impl_->notify_backfill();
}

std::optional<status::BackfillSnapshot> Indexer::backfill() const {
  return impl_->backfill();
}

std::vector<pipeline::Metrics> Indexer::metrics() const {
  return impl_->metrics();
}

pages::ProcessState Indexer::process_state() const {
  return impl_->process_state();
}

std::optional<std::string> Indexer::fatal_error() const {
  return impl_->fatal_error();
}

}  // namespace skua::app
