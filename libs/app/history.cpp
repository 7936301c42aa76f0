#include "app/history.hpp"

#include <limits>
#include <utility>

#include "app/clock_watch.hpp"
#include "app/database.hpp"
#include "app/defect.hpp"
#include "app/handle_lookups.hpp"
#include "app/history_watch.hpp"
#include "resolve/resolver.hpp"
#include "store/process_name.hpp"
#include "writer/live_pressure.hpp"

namespace skua::app {
namespace {

const std::string kRole = "skua backfill";

}  // namespace

backfill::FindDocument find_documents(AccountSource& accounts) {
  return [&accounts](const std::string& did, bool fresh,
                     std::function<void(Result<backfill::AccountDocument>)> done) {
    const auto freshness =
        fresh ? AccountSource::Freshness::Recent : AccountSource::Freshness::Known;
    accounts.identity(did, freshness, [done = std::move(done)](Result<AccountIdentity> found) {
      if (!found) return done(found.error());
      auto key = atproto::VerifyingKey::from_multikey(found->key);
      if (!key) return done(key.error());
      done(backfill::AccountDocument{*std::move(key), found->pds, found->handle});
    });
  };
}

backfill::BackfillerOptions backfiller_options(const HistoryOptions& options,
                                               const std::string& database_url,
                                               const std::string& role, AccountSource& accounts) {
  backfill::BackfillerOptions backfiller;
  backfiller.database_url = database_url;
  backfiller.holder = store::process_name(role);
  backfiller.find_document = find_documents(accounts);
  backfiller.document_failure = [&accounts](const std::string& did, const ErrorCode& error) {
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

class History::Impl {
 public:
  Impl(BackfillOptions options, const Clock& clock)
      : options_(std::move(options)),
        clock_watch_({.database_url = options_.database_url}, clock),
        backfiller_(options_of_backfiller(), ids_, live_pressure_, clock_watch_.latest(),
                    [this](const std::string& what) { defect_.report(what); }),
        watch_({.database_url = options_.database_url,
                .holder = store::process_name(kRole),
                .figures = [this] { return backfiller_.figures(); },
                .is_idle = [this] { return backfiller_.is_idle(); }},
               clock_watch_.latest()) {
    if (!options_.check_handles) return;
    handles_ = std::make_unique<HandleLookups>(handle_options(), clock_watch_.server());
  }

  ~Impl() { stop(); }

  void start() {
    fill_with_actors(options_.database_url, ids_.actors);
    backfiller_.start();
    watch_.start();
  }

  void stop() {
    options_.accounts->stop();
    backfiller_.stop();
    watch_.stop();
    if (handles_) handles_->stop();
  }

  void poke() { backfiller_.poke(); }
  bool is_idle() const { return backfiller_.is_idle(); }
  backfill::BackfillFigures figures() const { return backfiller_.figures(); }
  HistoryMoment moment() const { return watch_.moment(); }
  std::optional<std::string> defect() const {
    return reason_to_stop(defect_.get(), options_.database_url);
  }

 private:
  backfill::BackfillerOptions options_of_backfiller() const {
    backfill::BackfillerOptions backfiller =
        backfiller_options(options_.history, options_.database_url, kRole, *options_.accounts);
    backfiller.is_alone = options_.is_alone;
    backfiller.jobs_clock = &clock_watch_.server();
    return backfiller;
  }
  HandleLookups::Options handle_options() {
    return {.dns = *options_.check_handles,
            .ca_file = options_.history.ca_file,
            .allow_private_hosts = options_.history.allow_private_hosts,
            .keeper = {.database_url = options_.database_url,
                       .on_defect = [this](const std::string& what) { defect_.report(what); }}};
  }

  const BackfillOptions options_;
  ClockWatch clock_watch_;
  Defect defect_;
  resolve::SharedIds ids_;
  // No live lanes here: nothing to wait for.
  writer::LivePressure live_pressure_{std::numeric_limits<std::size_t>::max()};
  backfill::Backfiller backfiller_;
  HistoryWatch watch_;
  std::unique_ptr<HandleLookups> handles_;
};

History::History(BackfillOptions options, const Clock& clock) {
  check_database(options.database_url, options.durability);
  impl_ = std::make_unique<Impl>(std::move(options), clock);
}

History::~History() = default;

std::string History::holder() {
  return store::process_name(kRole);
}

void History::start() {
  impl_->start();
}

void History::stop() {
  impl_->stop();
}

void History::poke() {
  impl_->poke();
}

bool History::is_idle() const {
  return impl_->is_idle();
}

backfill::BackfillFigures History::figures() const {
  return impl_->figures();
}

HistoryMoment History::moment() const {
  return impl_->moment();
}

std::optional<std::string> History::defect() const {
  return impl_->defect();
}

}  // namespace skua::app
