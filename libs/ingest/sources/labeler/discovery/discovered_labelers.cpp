#include "sources/labeler/discovery/discovered_labelers.hpp"

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/metric.hpp"
#include "postgres/connection_string.hpp"
#include "sources/labeler/discovery/labeler_choice.hpp"
#include "sources/labeler/labeler_source.hpp"
#include "sources/source.hpp"
#include "tables/cursor_store.hpp"
#include "tables/source_table.hpp"

namespace skua::sources {

namespace {

/// The number of candidate accounts for each permitted labeler. It is more than one, because most
/// candidates have no working labeler.
constexpr std::size_t kCandidatesOfEach = 10;
/// The number of subscriptions that begin in one round. It is limited because each one reads the
/// system's certificates.
constexpr std::size_t kBeginAtOnce = 10;
/// The time to the next round while a subscription is expected to begin or end.
constexpr std::chrono::milliseconds kSoon{500};
/// The time that a stop waits for all subscriptions together. The next start reads their unfinished
/// messages again.
constexpr std::chrono::seconds kDrainPatience{3};

constexpr std::chrono::minutes kSayEvery{10};

}  // namespace

DiscoveredLabelers::DiscoveredLabelers(postgres::Runtime& runtime, Options options,
                                       accounts::AccountSource& accounts, writer::WorkerPool& pool)
    : options_(std::move(options)),
      accounts_(accounts),
      pool_(pool),
      clock_(runtime.clocks.latest),
      started_at_(clock_.now()),
      verification_(accounts),
      services_{.runtime = runtime,
                .pool = pool_,
                .verification = &verification_.verification(),
                .intake = intake_,
                .ca_file = options_.ca_file,
                .allow_private_hosts = options_.allow_private_hosts,
                .reconnect = options_.reconnect,
                .labels_per_second = options_.labels_per_second,
                .save_cursor = [this] { thread_.notify(); }},
      documents_(options_.documents),
      thread_(runtime,
              {.session_name = postgres::process_name("skua labelers"),
               .component = "labeler",
               .failure = "labelers cannot be discovered, and their cursors are not saved",
               .keeps_session = true},
              [this](postgres::LazySession& session, const std::stop_token& /*stop*/) {
                return look(session);
              }) {}

DiscoveredLabelers::~DiscoveredLabelers() {
  thread_.stop();
  forget_locks();
}

std::chrono::milliseconds DiscoveredLabelers::look(postgres::LazySession& lazy) {
  // The locks are dropped before `get`, because they refer to the session, and the session is
  // destroyed after its connection broke.
  if (!lazy.is_connected()) forget_locks();
  try {
    postgres::Session& session = lazy.get();
    if (!take_locks(session)) return options_.interval;
    const auto dids =
        read_labeler_candidates(session, kCandidatesOfEach * options_.limits.labelers);
    ask_for_documents(dids, std::chrono::steady_clock::now());
    change_subscriptions(session, dids);
    finish_ended(session);
    save_cursors(session);
    tables::save_metrics(session, kName, to_json(metrics()));
  } catch (const postgres::ServerError&) {
    forget_locks();
    throw;
  }
  log_changes();
  return documents_.is_waiting() || !ended_.empty() ? std::min(kSoon, options_.interval)
                                                    : options_.interval;
}

void DiscoveredLabelers::forget_locks() {
  lock_.reset();
  for (Readings* readings : {&readings_, &ended_}) {
    for (auto& [name, reading] : *readings) reading.lock.reset();
  }
}

bool DiscoveredLabelers::take_locks(postgres::Session& session) {
  try {
    if (!lock_) lock_ = std::make_unique<postgres::SourceLock>(session, kName);
  } catch (const postgres::SourceBusy& busy) {
    if (!std::exchange(is_busy_, true)) {
      logger("labeler")->warn("labelers are discovered by another process: {}", busy.what());
    }
    return false;
  }
  is_busy_ = false;
  for (auto& [name, reading] : readings_) {
    if (reading.lock) continue;
    try {
      reading.lock = std::make_unique<postgres::SourceLock>(session, name);
    } catch (const postgres::SourceBusy&) {
      // Another process reads the labeler since this process lost its session.
      // `change_subscriptions` ends the subscription.
      continue;
    }
  }
  return true;
}

void DiscoveredLabelers::ask_for_documents(const std::vector<std::string>& dids, TimePoint now) {
  for (Answer& answer : answers_->with([](auto& all) { return std::exchange(all, {}); })) {
    documents_.answered(answer.did, answer.account, now);
  }
  for (const std::string& did : documents_.due(dids, now)) {
    // The document is requested now, because the stored identities have no addresses of labelers.
    accounts_.identity(
        did, accounts::AccountSource::Freshness::Now,
        [answers = answers_, did](Result<documents::Account> account) {
          answers->with([&](auto& all) { all.push_back({did, std::move(account)}); });
        });
  }
}

void DiscoveredLabelers::change_subscriptions(postgres::Session& session,
                                              const std::vector<std::string>& dids) {
  std::vector<LabelerCandidate> candidates;
  candidates.reserve(dids.size());
  for (const std::string& did : dids) candidates.push_back({did, documents_.origin_of(did)});
  std::set<std::string> current;
  for (const auto& [name, reading] : readings_) {
    if (reading.lock) current.insert(name);
  }
  LabelerChoice choice = choose_labelers(candidates, options_.named, current, options_.limits);
  count(choice, dids.size());
  std::map<std::string, ChosenLabeler> chosen;
  for (ChosenLabeler& labeler : choice.labelers) {
    std::string name = LabelerSource(labeler.endpoint).name();
    chosen.emplace(std::move(name), std::move(labeler));
  }
  for (auto reading = readings_.begin(); reading != readings_.end();) {
    const auto next = std::next(reading);
    const auto place = chosen.find(reading->first);
    if (place != chosen.end() && reading->second.lock) {
      reading->second.subscription->set_accounts(std::move(place->second.dids));
    } else {
      logger("labeler")->debug("{}: the subscription ends", reading->first);
      reading->second.subscription->close();
      const std::scoped_lock lock(mutex_);
      ended_.insert(readings_.extract(reading));
    }
    reading = next;
  }
  std::size_t begun = 0;
  for (auto& [name, labeler] : chosen) {
    if (begun == kBeginAtOnce) break;
    // A subscription that ends can begin again when it has ended.
    if (readings_.contains(name) || ended_.contains(name)) continue;
    begin(session, name, std::move(labeler));
    ++begun;
  }
}

void DiscoveredLabelers::begin(postgres::Session& session, const std::string& name,
                               ChosenLabeler labeler) {
  Reading reading;
  try {
    reading.lock =
        std::make_unique<postgres::SourceLock>(session, name, std::chrono::milliseconds(0));
  } catch (const postgres::SourceBusy& busy) {
    logger("labeler")->debug("{}: {}", name, busy.what());
    return;
  }
  reading.saved = tables::load_cursor(session, name);
  logger("labeler")->debug("{}: subscribing", name);
  reading.subscription =
      std::make_unique<LabelerSubscription>(std::move(labeler), reading.saved, services_);
  reading.subscription->start();
  const std::scoped_lock lock(mutex_);
  readings_.emplace(name, std::move(reading));
}

void DiscoveredLabelers::finish_ended(postgres::Session& session) {
  for (auto ended = ended_.begin(); ended != ended_.end();) {
    const auto next = std::next(ended);
    LabelerSubscription& subscription = *ended->second.subscription;
    if (subscription.drain(std::chrono::steady_clock::now()) && subscription.leave_pool()) {
      // The labels of the labeler stay. If the subscription begins again, it reads all labels
      // again.
      const bool is_own = ended->second.lock != nullptr;
      ended->second.lock.reset();
      if (is_own) {
        try {
          tables::forget_source(session, ended->first);
        } catch (const postgres::SourceBusy&) {
          // Another process now reads the labeler, and needs its cursor.
          is_busy_ = false;
        }
      }
      metrics_.failures += subscription.failures() - ended->second.failures;
      const std::scoped_lock lock(mutex_);
      ended_.erase(ended);
    }
    ended = next;
  }
}

void DiscoveredLabelers::save_cursors(postgres::Session& session) {
  std::vector<std::pair<Reading*, pipeline::InFlightList::Watermark>> moved;
  postgres::Transaction transaction(session);
  for (auto& [name, reading] : readings_) {
    const auto watermark = reading.subscription->watermark();
    if (!reading.lock || !watermark || watermark->seq == reading.saved) continue;
    tables::save_cursor(session, name, watermark->seq, watermark->time);
    moved.emplace_back(&reading, *watermark);
  }
  transaction.commit();
  for (const auto& [reading, watermark] : moved) reading->saved = watermark.seq;
}

void DiscoveredLabelers::close() {
  thread_.stop();
  std::vector<std::future<void>> closing;
  for (auto& [name, reading] : readings_) {
    closing.push_back(std::async(
        std::launch::async, [&subscription = *reading.subscription] { subscription.close(); }));
  }
  for (auto& closed : closing) closed.wait();
}

bool DiscoveredLabelers::drain(std::chrono::steady_clock::time_point deadline) {
  // A labeler whose key cannot be requested must not use up the time of the other labelers.
  deadline = std::min(deadline, std::chrono::steady_clock::now() + kDrainPatience);
  bool drained = true;
  for (Readings* readings : {&readings_, &ended_}) {
    for (auto& [name, reading] : *readings) {
      drained = reading.subscription->drain(deadline) && drained;
    }
  }
  return drained;
}

bool DiscoveredLabelers::save() {
  if (!thread_.session().is_connected()) {
    // The locks are lost, so another process may read the labelers, and this process must not save
    // their cursors.
    return std::all_of(readings_.begin(), readings_.end(), [](const auto& reading) {
      const auto watermark = reading.second.subscription->watermark();
      return !watermark || watermark->seq == reading.second.saved;
    });
  }
  try {
    save_cursors(thread_.session().get());
    return true;
  } catch (const std::runtime_error& error) {
    logger("labeler")->error("the cursors were not saved: {}", error.what());
    return false;
  }
}

void DiscoveredLabelers::drop() {
  thread_.stop();
}

void DiscoveredLabelers::count(const LabelerChoice& choice, std::size_t found) {
  metrics_.found = found;
  for (std::size_t i = 0; i < kLeftOutReasons; ++i) metrics_.left_out.at(i) = choice.left_out[i];
}

void DiscoveredLabelers::log_changes() {
  std::size_t connected = 0;
  for (auto& [name, reading] : readings_) {
    if (reading.subscription->connected()) ++connected;
    const std::uint64_t failures = reading.subscription->failures();
    metrics_.failures += failures - std::exchange(reading.failures, failures);
  }
  metrics_.subscribed = readings_.size();
  metrics_.connected = connected;
  std::string text =
      fmt::format("discovered {} accounts with a labeler record: {} subscriptions, {} connected",
                  metrics_.found.value(), readings_.size(), connected);
  for (std::size_t i = 0; i < kLeftOutReasons; ++i) {
    if (metrics_.left_out.at(i) == 0) continue;
    text += fmt::format(", left out as {}: {}", name_of(static_cast<LeftOut>(i)),
                        std::uint64_t{metrics_.left_out.at(i)});
  }
  const auto now = std::chrono::steady_clock::now();
  if (text == said_ || now < say_at_ || documents_.is_waiting()) return;
  logger("labeler")->info("{}", text);
  said_ = std::move(text);
  say_at_ = now + kSayEvery;
}

pipeline::Metrics DiscoveredLabelers::metrics() const {
  pipeline::Metrics metrics;
  metrics.source = kName;
  metrics.at = clock_.now();
  metrics.started_at = started_at_;
  metrics.is_verified = true;
  if (const std::int64_t newest = intake_.newest_time_us; newest != 0) {
    metrics.newest = Timestamp(std::chrono::microseconds(newest));
  }
  pipeline::PipelineGauges gauges;
  ConnectionCounters connection;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, reading] : readings_) {
      const LabelerSubscription& subscription = *reading.subscription;
      metrics.connected = metrics.connected || subscription.connected();
      const std::uint64_t connections = subscription.connections();
      connection.reconnects += connections > 0 ? connections - 1 : 0;
      connection.restarts += subscription.restarts();
      const auto backlog = subscription.backlog();
      metrics.waiting += backlog.waiting;
      if (backlog.newest_committed) {
        metrics.committed = std::max(metrics.committed.value_or(*backlog.newest_committed),
                                     *backlog.newest_committed);
      }
      if (backlog.oldest_waiting) {
        metrics.oldest_waiting = std::min(metrics.oldest_waiting.value_or(*backlog.oldest_waiting),
                                          *backlog.oldest_waiting);
      }
      gauges.in_flight = gauges.in_flight + subscription.frames_in_flight();
    }
  }
  pipeline::add_counts(metrics, {.intake = intake_,
                                 .written = pool_.stream_counters(),
                                 .dead_letters = tables::dead_letter_counters(),
                                 .gauges = gauges});
  if (options_.complete) options_.complete(metrics);
  metrics.add(pipeline::MetricScope::Source, values_of(connection));
  return metrics;
}

}  // namespace skua::sources
