#include "app/backfill_run.hpp"

#include <utility>

#include "accounts/handle_verifier.hpp"
#include "app/database.hpp"
#include "consumers/log_maintenance.hpp"
#include "ids/reference_sender.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/runtime.hpp"
#include "postgres/server_clock.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {

namespace {

const std::string kRole = "skua backfill";

}  // namespace

MonitoredBackfill::MonitoredBackfill(postgres::Runtime& runtime,
                                     backfill::BackfillerOptions options, writer::WorkerPool& pool)
    : backfiller(runtime, options, pool),
      monitor(runtime, {.lease_owner = options.lease_owner,
                        .metrics = [this] { return backfiller.metrics(); },
                        .is_idle = [this] { return backfiller.is_idle(); }}) {}

void MonitoredBackfill::start() {
  backfiller.start();
  monitor.start();
}

void MonitoredBackfill::stop() {
  backfiller.stop();
  monitor.stop();
}

backfill::FindAccount find_accounts(accounts::AccountSource& accounts) {
  return [&accounts](const std::string& did, bool fresh,
                     std::function<void(Result<documents::Account>)> done) {
    const auto freshness = fresh ? accounts::AccountSource::Freshness::Recent
                                 : accounts::AccountSource::Freshness::Known;
    accounts.identity_once(did, freshness, std::move(done));
  };
}

backfill::BackfillerOptions backfiller_options(const BackfillOptions& options,
                                               const std::string& role,
                                               accounts::AccountSource& accounts) {
  backfill::BackfillerOptions backfiller;
  backfiller.lease_owner = postgres::process_name(role);
  backfiller.find_account = find_accounts(accounts);
  backfiller.account_failure = [&accounts](const std::string& did, const ErrorCode& error) {
    return accounts.failure_text(did, error);
  };
  backfiller.verify = options.verify;
  backfiller.limits = options.limits;
  backfiller.http.ca_file = options.ca_file;
  backfiller.http.allow_private_hosts = options.allow_private_hosts;
  backfiller.reader_threads = options.reader_threads;
  backfiller.largest_repository = options.largest_repository;
  backfiller.audit = options.audit;
  backfiller.only = options.only;
  backfiller.max_attempts = options.max_attempts;
  return backfiller;
}

class BackfillRun::Impl {
 public:
  Impl(BackfillRunOptions options, const Clock& clock)
      : options_(std::move(options)),
        clock_watch_({.database_url = options_.database_url}, clock),
        runtime_(options_.database_url, clock_watch_.clocks()),
        pool_(runtime_, {.is_alone = options_.is_alone}),
        backfill_(runtime_, backfiller_options(options_.backfill, kRole, *options_.accounts),
                  pool_),
        log_maintenance_(runtime_),
        references_(runtime_) {
    if (!options_.check_handles) return;
    handles_ = std::make_unique<accounts::HandleLookups>(runtime_, handle_options());
  }

  ~Impl() { stop(); }

  void start() {
    pool_.start();
    backfill_.start();
    log_maintenance_.start();
    references_.start();
  }

  void stop() {
    options_.accounts->stop();
    backfill_.backfiller.close();
    pool_.end(false);
    backfill_.stop();
    if (handles_) handles_->stop();
    log_maintenance_.stop();
    references_.stop();
  }

  void notify() { backfill_.backfiller.notify(); }
  bool is_idle() const { return backfill_.backfiller.is_idle(); }
  backfill::BackfillMetrics metrics() const { return backfill_.backfiller.metrics(); }
  status::BackfillSnapshot moment() const { return backfill_.monitor.moment(); }
  std::optional<std::string> reason_to_stop() const { return runtime_.reason_to_stop(); }

 private:
  accounts::HandleLookups::Options handle_options() {
    return {.dns = *options_.check_handles,
            .ca_file = options_.backfill.ca_file,
            .allow_private_hosts = options_.backfill.allow_private_hosts};
  }

  const BackfillRunOptions options_;
  postgres::ClockWatch clock_watch_;
  postgres::Runtime runtime_;
  writer::WorkerPool pool_;
  MonitoredBackfill backfill_;
  consumers::LogMaintenance log_maintenance_;
  ids::ReferenceSender references_;
  std::unique_ptr<accounts::HandleLookups> handles_;
};

BackfillRun::BackfillRun(BackfillRunOptions options, const Clock& clock) {
  check_database_to_write(options.database_url, options.durability);
  impl_ = std::make_unique<Impl>(std::move(options), clock);
}

BackfillRun::~BackfillRun() = default;

std::string BackfillRun::lease_owner() {
  return postgres::process_name(kRole);
}

void BackfillRun::start() {
  impl_->start();
}

void BackfillRun::stop() {
  impl_->stop();
}

void BackfillRun::notify() {
  impl_->notify();
}

bool BackfillRun::is_idle() const {
  return impl_->is_idle();
}

backfill::BackfillMetrics BackfillRun::metrics() const {
  return impl_->metrics();
}

status::BackfillSnapshot BackfillRun::moment() const {
  return impl_->moment();
}

std::optional<std::string> BackfillRun::reason_to_stop() const {
  return impl_->reason_to_stop();
}

}  // namespace skua::app
