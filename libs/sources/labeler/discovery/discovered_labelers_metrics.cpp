#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/metric_group.hpp"
#include "sources/labeler/discovery/discovered_labelers.hpp"
#include "sources/source_metrics.hpp"

// What DiscoveredLabelers counts and logs.

namespace skua::sources {
namespace {

constexpr std::chrono::minutes kSayEvery{10};

}  // namespace

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

status::Metrics DiscoveredLabelers::metrics() const {
  status::Metrics metrics;
  metrics.source = kName;
  metrics.at = clock_.now();
  metrics.started_at = started_at_;
  metrics.is_verified = true;
  if (const std::int64_t newest = intake_.newest_time_us; newest != 0) {
    metrics.newest = Timestamp(std::chrono::microseconds(newest));
  }
  ingest::PipelineGauges gauges;
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
  ingest::add_counts(metrics, {.intake = intake_,
                               .written = pool_.stream_counters(),
                               .dead_letters = store::dead_letter_counters(),
                               .gauges = gauges});
  if (options_.complete) options_.complete(metrics);
  metrics.add(status::MetricScope::Source, values_of(connection));
  return metrics;
}

}  // namespace skua::sources
