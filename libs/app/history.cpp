#include "app/history.hpp"

#include <limits>
#include <utility>

#include "app/database.hpp"
#include "app/defect.hpp"
#include "app/handle_lookups.hpp"
#include "resolve/resolver.hpp"
#include "store/process_name.hpp"
#include "writer/live_pressure.hpp"

namespace skua::app {

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

backfill::BackfillerOptions backfiller_options(const std::string& database_url,
                                               const std::string& holder, AccountSource* accounts) {
  backfill::BackfillerOptions options;
  options.database_url = database_url;
  options.holder = store::process_name(holder);
  if (accounts != nullptr) options.find_document = find_documents(*accounts);
  options.http.max_at_once = options.limits.in_all;
  return options;
}

class History::Impl {
 public:
  Impl(HistoryOptions options, const Clock& clock)
      : options_(std::move(options)),
        backfiller_(backfiller_options(), ids_, live_pressure_, clock,
                    [this](const std::string& what) { defect_.report(what); }) {
    if (options_.check_handles) handles_ = std::make_unique<HandleLookups>(handle_options(), clock);
  }

  ~Impl() { stop(); }

  void start() { backfiller_.start(); }

  void stop() {
    if (options_.accounts) options_.accounts->stop();
    backfiller_.stop();
    if (handles_) handles_->stop();
  }

  void poke() { backfiller_.poke(); }
  bool is_idle() const { return backfiller_.is_idle(); }
  backfill::BackfillFigures figures() const { return backfiller_.figures(); }
  std::optional<std::string> defect() const { return defect_.get(); }

 private:
  backfill::BackfillerOptions backfiller_options() {
    auto options =
        app::backfiller_options(options_.database_url, "skua backfill", options_.accounts.get());
    options.http.ca_file = options_.ca_file;
    options.http.allow_private_hosts = options_.allow_private_hosts;
    options.reader_threads = options_.reader_threads;
    return options;
  }

  HandleLookups::Options handle_options() {
    return {.dns = *options_.check_handles,
            .ca_file = options_.ca_file,
            .allow_private_hosts = options_.allow_private_hosts,
            .keeper = {.database_url = options_.database_url,
                       .on_defect = [this](const std::string& what) { defect_.report(what); }}};
  }

  const HistoryOptions options_;
  Defect defect_;
  resolve::SharedIds ids_;
  // No live lanes here: nothing to wait for.
  writer::LivePressure live_pressure_{std::numeric_limits<std::size_t>::max()};
  backfill::Backfiller backfiller_;
  std::unique_ptr<HandleLookups> handles_;
};

History::History(HistoryOptions options, const Clock& clock) {
  check_database(options.database_url);
  impl_ = std::make_unique<Impl>(std::move(options), clock);
}

History::~History() = default;

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

std::optional<std::string> History::defect() const {
  return impl_->defect();
}

}  // namespace skua::app
