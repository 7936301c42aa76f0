#include "status/backfill_monitor.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "backfill/discovery/list_table.hpp"
#include "base/log.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/outage.hpp"
#include "status/backfill_monitor.sql.hpp"
#include "tables/cursor_store.hpp"

namespace skua::status {
namespace {

using postgres::Session;

constexpr std::size_t kShownHosts = 10;
constexpr std::size_t kShownErrors = 20;
/// The time between two updates of the rates. Rates need newer metrics than the queue needs counts.
constexpr std::chrono::milliseconds kBeat{500};

/// The metrics that a process saved, as JSON.
struct SavedMetrics {
  std::string metrics;
  double age_seconds;
  bool is_running;
};

}  // namespace

BackfillMonitor::BackfillMonitor(postgres::Runtime& runtime, Options options)
    : runtime_(runtime), options_(std::move(options)), clock_(runtime.clocks.latest) {}

BackfillMonitor::~BackfillMonitor() {
  stop();
}

void BackfillMonitor::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void BackfillMonitor::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

BackfillSnapshot BackfillMonitor::moment() const {
  backfill::BackfillMetrics metrics = options_.metrics();
  const std::scoped_lock lock(mutex_);
  return {clock_.now(), std::move(metrics), rates_, queue_, postgres::outage_monitor().current()};
}

void BackfillMonitor::run(const std::stop_token& stop) {
  std::unique_ptr<Session> session;
  std::chrono::steady_clock::time_point next_look;
  std::uint64_t told = 0;
  bool was_idle = false;
  bool is_last = false;
  while (!is_last) {
    is_last = stop.stop_requested();
    const auto now = std::chrono::steady_clock::now();
    const bool is_idle = options_.is_idle();
    const backfill::BackfillMetrics metrics = options_.metrics();
    {
      const std::scoped_lock lock(mutex_);
      rates_ = pace_.add(metrics, monotonic_clock().now());
    }
    const std::uint64_t ended =
        metrics.repositories + metrics.failed + metrics.unavailable + metrics.discovery.pages;
    // After the backfill became idle, the queue is counted once more, so that the saved count shows
    // the end.
    const bool is_news = !is_idle || !was_idle || ended != told;
    const bool wanted = is_news && (now >= next_look || is_idle || is_last);
    // A stop does not connect to the server, because it must not wait for a server that is down.
    if (wanted && (!is_last || session)) {
      try {
        if (!session || !session->connected()) {
          session = std::make_unique<Session>(runtime_.database_url,
                                              postgres::process_name("skua watch"));
        }
        look(*session);
        was_idle = is_idle;
        told = ended;
      } catch (const postgres::SqlError& error) {
        logger("backfill")->debug("the queue was not counted: {}", error.what());
        session.reset();
      }
      next_look = std::chrono::steady_clock::now() + options_.interval;
    }
    if (is_last) return;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, kBeat, [] { return false; });
  }
}

void BackfillMonitor::look(Session& session) {
  BackfillQueue queue = read_backfill_queue(session, kShownHosts);
  const backfill::BackfillMetrics metrics = options_.metrics();
  BackfillRates rates;
  {
    const std::scoped_lock lock(mutex_);
    queue_ = std::move(queue);
    rates = rates_;
  }
  tables::save_metrics(session, kBackfillMetrics,
                       to_json(metrics, rates, options_.lease_owner).dump());
}

BackfillQueue read_backfill_queue(Session& session, std::size_t hosts) {
  return {backfill::job_counts(session, hosts), backfill::list_counts(session),
          backfill::next_page_due(session), backfill::list_errors(session, kShownErrors)};
}

nlohmann::json read_backfill_status(Session& session) {
  nlohmann::json status = to_json(read_backfill_queue(session, kShownHosts));
  status["audit"] = to_json(backfill::list_counts(session, backfill::ListPurpose::Audit));
  status["audit_errors"] =
      to_json(backfill::list_errors(session, kShownErrors, backfill::ListPurpose::Audit));
  status["bootstrap"] = backfill::bootstrap_is_open(session);
  status["metrics"] = nullptr;
  status["metrics_age_seconds"] = nullptr;
  status["is_running"] = false;
  if (const auto saved =
          session.query_first<SavedMetrics>(sql::backfill_metrics, kBackfillMetrics)) {
    status["metrics"] = nlohmann::json::parse(saved->metrics);
    status["metrics_age_seconds"] = saved->age_seconds;
    status["is_running"] = saved->is_running;
  }
  return status;
}

}  // namespace skua::status
