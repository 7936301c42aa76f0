#include "app/signal_queue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backfill/discovery/audit.hpp"
#include "base/log.hpp"
#include "postgres/connection_string.hpp"
#include "tables/filter_table.hpp"

namespace skua::app {
namespace {

/// Returns the number of accounts of one round, so that the rounds of an hour queue `most_an_hour`
/// accounts at most.
std::size_t round_size(const SignalQueue::Options& options) {
  const auto rounds = static_cast<std::size_t>(std::chrono::hours(1) / options.interval);
  return std::max<std::size_t>(options.most_an_hour / std::max<std::size_t>(rounds, 1), 1);
}

}  // namespace

SignalQueue::SignalQueue(postgres::Runtime& runtime, Options options,
                         pipeline::SignalAccounts& accounts, const filter::CurrentFilter& filter)
    : options_(std::move(options)),
      accounts_(accounts),
      filter_(filter),
      clock_(runtime.clocks.server),
      thread_(runtime,
              {.session_name = postgres::process_name("skua signal accounts"),
               .component = "backfill",
               .failure = "the accounts of signal collections wait",
               .keeps_session = true},
              [this](postgres::LazySession& session, const std::stop_token& /*stop*/) {
                if (accounts_.metrics().waiting > 0) queue(session.get());
                return options_.interval;
              }) {}

void SignalQueue::stop() {
  thread_.stop();
  try {
    if (accounts_.metrics().waiting > 0 && thread_.session().is_connected()) {
      queue(thread_.session().get());
    }
  } catch (const std::runtime_error& error) {
    logger("backfill")->warn("accounts of signal collections were not queued: {}", error.what());
  }
  thread_.session().reset();
}

void SignalQueue::queue(postgres::Session& session) {
  std::vector<std::string> dids = accounts_.take(round_size(options_));
  try {
    const filter::CurrentFilter::Snapshot filter = filter_.get();
    // A filter without accounts lets all accounts pass, so nothing must be added to it.
    if (!filter->content().dids.empty()) {
      tables::change_filter(session, tables::FilterEdit::Add, {.collections = {}, .dids = dids});
    }
    const std::size_t queued = backfill::queue_signal_accounts(session, dids, clock_.now());
    accounts_.metrics().queued += queued;
    if (queued > 0 && options_.on_queued) options_.on_queued();
  } catch (const postgres::DataError& error) {
    // The accounts are not queued again, because their names come from the network and PostgreSQL
    // refused them.
    accounts_.metrics().dropped += dids.size();
    logger("backfill")
        ->warn("{} accounts of signal collections were refused: {}", dids.size(), error.what());
  } catch (const postgres::ServerError&) {
    accounts_.give_back(std::move(dids));
    throw;
  }
}

}  // namespace skua::app
