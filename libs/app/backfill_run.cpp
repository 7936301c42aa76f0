#include "app/backfill_run.hpp"

#include <utility>

#include "accounts/handle_verifier.hpp"
#include "app/database.hpp"
#include "app/defect.hpp"
#include "feed/log_maintenance.hpp"
#include "status/backfill_monitor.hpp"
#include "store/clock_watch.hpp"
#include "store/process_name.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {
namespace {

const std::string kRole = "skua backfill";

}  // namespace

backfill::FindAccount find_accounts(accounts::AccountSource& accounts) {
  return [&accounts](const std::string& did, bool fresh,
                     std::function<void(Result<identity::Account>)> done) {
    const auto freshness = fresh ? accounts::AccountSource::Freshness::Recent
                                 : accounts::AccountSource::Freshness::Known;
    accounts.identity_once(did, freshness, std::move(done));
  };
}

backfill::BackfillerOptions backfiller_options(const BackfillOptions& options,
                                               const std::string& database_url,
                                               const std::string& role,
                                               accounts::AccountSource& accounts) {
  backfill::BackfillerOptions backfiller;
  backfiller.database_url = database_url;
  backfiller.lease_owner = store::process_name(role);
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
        pool_({.database_url = options_.database_url,
               .is_alone = options_.is_alone,
               .server_clock = clock_watch_.server(),
               .on_defect = [this](const std::string& what) { defect_.report(what); }}),
        backfiller_(options_of_backfiller(), pool_, clock_watch_.latest(),
                    [this](const std::string& what) { defect_.report(what); }),
        watch_({.database_url = options_.database_url,
                .lease_owner = store::process_name(kRole),
                .metrics = [this] { return backfiller_.metrics(); },
                .is_idle = [this] { return backfiller_.is_idle(); }},
               clock_watch_.latest()),
        log_maintenance_({.database_url = options_.database_url,
                          .on_defect = [this](const std::string& what) { defect_.report(what); }}) {
    if (!options_.check_handles) return;
    handles_ = std::make_unique<accounts::HandleLookups>(handle_options(), clock_watch_.server());
  }

  ~Impl() { stop(); }

  void start() {
    pool_.start();
    backfiller_.start();
    watch_.start();
    log_maintenance_.start();
  }

  void stop() {
    options_.accounts->stop();
    backfiller_.close();
    pool_.end(false);
    backfiller_.stop();
    watch_.stop();
    if (handles_) handles_->stop();
    log_maintenance_.stop();
  }

  void notify() { backfiller_.notify(); }
  bool is_idle() const { return backfiller_.is_idle(); }
  backfill::BackfillMetrics metrics() const { return backfiller_.metrics(); }
  status::BackfillSnapshot moment() const { return watch_.moment(); }
  std::optional<std::string> defect() const {
    return reason_to_stop(defect_.get(), options_.database_url);
  }

 private:
  backfill::BackfillerOptions options_of_backfiller() const {
    backfill::BackfillerOptions backfiller =
        backfiller_options(options_.backfill, options_.database_url, kRole, *options_.accounts);
    backfiller.jobs_clock = &clock_watch_.server();
    return backfiller;
  }
  accounts::HandleLookups::Options handle_options() {
    return {.dns = *options_.check_handles,
            .ca_file = options_.backfill.ca_file,
            .allow_private_hosts = options_.backfill.allow_private_hosts,
            .verifier = {.database_url = options_.database_url,
                         .on_defect = [this](const std::string& what) { defect_.report(what); }}};
  }

  const BackfillRunOptions options_;
  store::ClockWatch clock_watch_;
  Defect defect_;
  writer::WorkerPool pool_;
  backfill::Backfiller backfiller_;
  status::BackfillMonitor watch_;
  feed::LogMaintenance log_maintenance_;
  std::unique_ptr<accounts::HandleLookups> handles_;
};

BackfillRun::BackfillRun(BackfillRunOptions options, const Clock& clock) {
  check_database_to_write(options.database_url, options.durability);
  impl_ = std::make_unique<Impl>(std::move(options), clock);
}

BackfillRun::~BackfillRun() = default;

std::string BackfillRun::lease_owner() {
  return store::process_name(kRole);
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

std::optional<std::string> BackfillRun::defect() const {
  return impl_->defect();
}

}  // namespace skua::app
