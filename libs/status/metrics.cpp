#include "status/metrics.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

namespace skua::status {
namespace {

double milliseconds_at(const LatencyHistogram::Counts& counts, double quantile) {
  return static_cast<double>(LatencyHistogram::quantile(counts, quantile).count()) / 1'000;
}

}  // namespace

std::optional<Timestamp::duration> lag_of(const Metrics& metrics) {
  constexpr Timestamp::duration kNone{0};
  if (!metrics.newest) return std::nullopt;
  if (metrics.waiting == 0) return kNone;
  // After a quiet time the newest that was committed is older than what waits.
  std::optional<Timestamp> reached = std::max(metrics.committed, metrics.oldest_waiting);
  if (!reached) reached = metrics.newest;
  return std::max(metrics.at - *reached, kNone);
}

std::string to_json(const Metrics& metrics) {
  nlohmann::json all = {
      {"started_at", format_datetime(metrics.started_at)},
      {"connected", metrics.connected},
      {"frames", metrics.frames},
      {"bytes", metrics.bytes},
      {"commits", metrics.commits},
      {"syncs", metrics.syncs},
      {"identities", metrics.identities},
      {"accounts", metrics.accounts},
      {"labels", metrics.labels},
      {"infos", metrics.infos},
      {"errors", metrics.errors},
      {"unknown", metrics.unknown},
      {"events", metrics.events},
      {"rows", metrics.rows},
      {"unchanged", metrics.unchanged},
      {"transactions", metrics.transactions},
      {"retries", metrics.retries},
      {"dead_letters", metrics.dead_letters},
      {"dead_letters_left_out", metrics.dead_letters_left_out},
      {"unforeseen", metrics.unforeseen},
      {"altered", metrics.altered},
      {"filtered", metrics.filtered},
      {"filtered_messages", metrics.filtered_messages},
      {"is_verified", metrics.is_verified},
      {"verified", metrics.verified},
      {"broke", metrics.broke},
      {"former_keys", metrics.former_keys},
      {"dropped", metrics.dropped},
      {"stale_accounts", metrics.stale_accounts},
      {"unsettled_accounts", metrics.unsettled_accounts},
      {"accounts_waiting", metrics.accounts_waiting},
      {"frames_held", metrics.frames_held},
      {"handles_valid", metrics.handles_valid},
      {"handles_invalid", metrics.handles_invalid},
      {"handles_failed", metrics.handles_failed},
      {"nuls_removed", metrics.nuls_removed},
      {"not_canonical", metrics.not_canonical},
      {"reconnects", metrics.reconnects},
      {"skipped", metrics.skipped},
      {"restarts", metrics.restarts},
      {"in_flight", metrics.in_flight},
      {"commit_ms_p50", milliseconds_at(metrics.latency, 0.5)},
      {"commit_ms_p99", milliseconds_at(metrics.latency, 0.99)},
  };
  if (metrics.role == Metrics::Role::Active) all["role"] = "active";
  if (metrics.role == Metrics::Role::Standby) all["role"] = "standby";
  if (metrics.cursor) all["cursor"] = *metrics.cursor;
  if (metrics.newest) {
    all["newest"] = format_datetime(*metrics.newest);
    all["lag_seconds"] = std::chrono::duration<double>(*lag_of(metrics)).count();
  }
  if (metrics.server_clock_ahead) {
    all["server_clock_ahead_seconds"] =
        std::chrono::duration<double>(*metrics.server_clock_ahead).count();
  }
  if (metrics.committed) all["committed"] = format_datetime(*metrics.committed);
  return all.dump();
}

Metrics total(const std::vector<Metrics>& sources) {
  Metrics all;
  bool has_first = false;
  for (const Metrics& one : sources) {
    if (one.role == Metrics::Role::Standby) continue;
    if (!std::exchange(has_first, true)) {
      all = one;
      continue;
    }
    all.frames += one.frames;
    all.bytes += one.bytes;
    all.accounts_waiting += one.accounts_waiting;
    all.frames_held += one.frames_held;
    all.in_flight += one.in_flight;
    for (std::size_t i = 0; i < all.latency.size(); ++i) all.latency[i] += one.latency[i];
  }
  return all;
}

}  // namespace skua::status
