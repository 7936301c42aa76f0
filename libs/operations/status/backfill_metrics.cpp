#include "status/backfill_metrics.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/metric.hpp"
#include "pipeline/metric_json.hpp"

namespace skua::status {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kWindow{60};

/// A metric that is a rate, with the function that reads it.
struct RateMetric {
  MetricInfo info;
  double BackfillRates::*value;
};

const RateMetric kRateMetrics[] = {
    {{"repositories_per_second", "skua_backfill_repositories_per_second", "repositories/s",
      "Repositories that were indexed, mean over the last minute"},
     &BackfillRates::repositories},
    {{"records_per_second", "skua_backfill_records_per_second", "records/s",
      "Records that workers finished, mean over the last minute"},
     &BackfillRates::records},
    {{"bytes_per_second", "skua_backfill_downloaded_bytes_per_second", "bytes/s",
      "Size of the downloaded repositories, mean over the last minute"},
     &BackfillRates::bytes},
};

/// Returns the metrics of one of the busiest hosts. Prometheus does not get these metrics, because
/// the set of hosts changes.
json to_json(const backfill::HostMetrics& host) {
  json object = {{"host", host.host},
                 {"under_way", host.under_way},
                 {"at_once", host.at_once},
                 {"waits_until", nullptr},
                 {"repositories", host.repositories},
                 {"bytes", host.bytes},
                 {"failures", host.failures},
                 {"repositories_per_second", host.repositories_per_second},
                 {"last_error", host.last_error}};
  if (host.waits_until) object["waits_until"] = format_datetime(*host.waits_until);
  return object;
}

}  // namespace

BackfillRates BackfillRateWindow::add(const backfill::BackfillMetrics& metrics, Timestamp now) {
  samples_.push_back({now, metrics.repositories, metrics.records, metrics.bytes});
  while (samples_.size() > 2 && samples_[1].at + kWindow <= now) samples_.pop_front();
  const Sample& first = samples_.front();
  const double seconds = std::chrono::duration<double>(now - first.at).count();
  if (seconds <= 0) return {};
  const auto rate = [&](std::uint64_t before, std::uint64_t after) {
    return static_cast<double>(after - before) / seconds;
  };
  return {rate(first.repositories, metrics.repositories), rate(first.records, metrics.records),
          rate(first.bytes, metrics.bytes)};
}

std::vector<MetricValue> all_metrics(const backfill::BackfillMetrics& metrics,
                                     const BackfillRates& rates) {
  std::vector<MetricValue> all = values_of<backfill::BackfillCounters>(metrics);
  std::ranges::move(values_of(metrics.discovery), std::back_inserter(all));
  for (const RateMetric& rate : kRateMetrics) {
    all.push_back({rate.info, MetricKind::Gauge, rates.*rate.value});
  }
  return all;
}

json to_json(const backfill::BackfillMetrics& metrics, const BackfillRates& rates,
             const std::string& lease_owner) {
  json hosts = json::array();
  for (const backfill::HostMetrics& host : metrics.hosts) hosts.push_back(to_json(host));
  json object = {{"lease_owner", lease_owner}, {"hosts", std::move(hosts)}};
  for (const MetricValue& metric : all_metrics(metrics, rates)) pipeline::add_to(object, metric);
  return object;
}

json to_json(const BackfillQueue& queue) {
  json states = json::object();
  for (const auto state : {backfill::JobState::Queued, backfill::JobState::Running,
                           backfill::JobState::Done, backfill::JobState::Unavailable,
                           backfill::JobState::Failed, backfill::JobState::Cancelled}) {
    const auto found = queue.jobs.by_state.find(state);
    states[std::string(to_string(state))] = found == queue.jobs.by_state.end() ? 0 : found->second;
  }
  json hosts = json::array();
  for (const backfill::HostCounts& host : queue.jobs.hosts) {
    hosts.push_back({{"host", host.host},
                     {"queued", host.queued},
                     {"running", host.running},
                     {"done", host.done},
                     {"ended_otherwise", host.ended_otherwise}});
  }
  json errors = json::array();
  for (const backfill::ErrorCount& error : queue.jobs.errors) {
    errors.push_back({{"state", std::string(to_string(error.state))},
                      {"error", error.reason},
                      {"jobs", error.jobs},
                      {"last_at", format_datetime(error.last)}});
  }
  json next_due = nullptr;
  if (queue.jobs.next_due) next_due = format_datetime(*queue.jobs.next_due);
  return {{"exact", queue.jobs.exact},
          {"jobs", std::move(states)},
          {"next_due", next_due},
          {"hosts", std::move(hosts)},
          {"errors", std::move(errors)},
          {"lists", to_json(queue.lists)},
          {"list_errors", to_json(queue.list_errors)}};
}

json to_json(const std::vector<backfill::ListError>& errors) {
  json all = json::array();
  for (const backfill::ListError& error : errors) {
    const bool is_abandoned = error.state == backfill::ListState::Failed;
    all.push_back(
        {{"host", error.list.host},
         {"list", error.list.what},
         {"state", std::string(to_string(error.state))},
         {"error", error.reason},
         {"next_attempt", is_abandoned ? json() : json(format_datetime(error.next_attempt))}});
  }
  return all;
}

json to_json(const std::map<std::string, backfill::ListCounts>& lists) {
  json kinds = json::object();
  for (const auto& [kind, counts] : lists) {
    json object = {{"listed_entries", counts.listed}};
    for (const auto& [state, count] : counts.lists) {
      object[std::string(to_string(state))] = count;
    }
    kinds[kind] = std::move(object);
  }
  return kinds;
}

std::string_view to_string(backfill::ListState state) {
  switch (state) {
    case backfill::ListState::None:
      return "waiting";
    case backfill::ListState::Listing:
      return "listing";
    case backfill::ListState::Listed:
      return "listed";
    case backfill::ListState::Failed:
      return "failed";
    case backfill::ListState::Cancelled:
      return "cancelled";
  }
  return "failed";
}

}  // namespace skua::status
