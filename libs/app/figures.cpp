#include "app/figures.hpp"

#include <cstddef>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skua::app {
namespace {

double per_second(std::uint64_t before, std::uint64_t now, double seconds) {
  return seconds > 0 ? static_cast<double>(now - before) / seconds : 0;
}

std::string per_day(double bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.1f} GB/day", bytes / seconds * 86'400 / 1e9) : "- GB/day";
}

double milliseconds_at(const LatencyHistogram::Counts& counts, double quantile) {
  return static_cast<double>(LatencyHistogram::quantile(counts, quantile).count()) / 1'000;
}

double seconds_between(Timestamp from, Timestamp to) {
  return std::chrono::duration<double>(to - from).count();
}

/// A rate, what is behind it and where: the parts of a line.
std::string rates(const Figures& before, const Figures& now) {
  const double seconds = seconds_between(before.at, now.at);
  return fmt::format(
      "{:%H:%M:%S}  {:.0f} events/s  {:.0f} rows/s",
      fmt::gmtime(
          std::chrono::duration_cast<std::chrono::seconds>(now.at.time_since_epoch()).count()),
      per_second(before.events, now.events, seconds), per_second(before.rows, now.rows, seconds));
}

std::string lag_words(const Figures& now) {
  if (!now.connected) return "not connected";
  if (!now.newest) return "lag -";
  return fmt::format("lag {:.1f} s", seconds_between(*now.newest, now.at));
}

std::string cursor_words(const Figures& now) {
  return now.cursor ? fmt::format("cursor {}", *now.cursor) : "cursor -";
}

std::string commit_times(const Figures& before, const Figures& now) {
  const auto took = LatencyHistogram::between(before.latency, now.latency);
  const double p99 = milliseconds_at(took, 0.99);
  if (p99 <= 0) return {};
  return fmt::format("  commit {:.0f}/{:.0f} ms", milliseconds_at(took, 0.5), p99);
}

std::string amounts(const Figures& before, const Figures& now,
                    std::optional<std::int64_t> disk_bytes) {
  const double seconds = seconds_between(before.at, now.at);
  std::string words =
      "  " + per_day(static_cast<double>(now.bytes - before.bytes), seconds) + " in";
  if (disk_bytes) words += ", " + per_day(static_cast<double>(*disk_bytes), seconds) + " on disk";
  if (now.accounts_waiting > 0) words += fmt::format("  {} await keys", now.accounts_waiting);
  if (now.dead_letters > 0) words += fmt::format("  {} dead letters", now.dead_letters);
  return words;
}

std::string source_words(const Figures& now) {
  if (now.role == Figures::Role::Standby) {
    return fmt::format("{} stands by, {}", now.source, cursor_words(now));
  }
  return fmt::format("{}{}, {}, {}", now.source, now.role == Figures::Role::Active ? " active" : "",
                     lag_words(now), cursor_words(now));
}

}  // namespace

std::string to_json(const Figures& figures) {
  nlohmann::json json = {
      {"started_at", format_datetime(figures.started_at)},
      {"connected", figures.connected},
      {"frames", figures.frames},
      {"bytes", figures.bytes},
      {"commits", figures.commits},
      {"syncs", figures.syncs},
      {"identities", figures.identities},
      {"accounts", figures.accounts},
      {"labels", figures.labels},
      {"infos", figures.infos},
      {"errors", figures.errors},
      {"unknown", figures.unknown},
      {"events", figures.events},
      {"rows", figures.rows},
      {"unchanged", figures.unchanged},
      {"transactions", figures.transactions},
      {"retries", figures.retries},
      {"dead_letters", figures.dead_letters},
      {"altered", figures.altered},
      {"filtered", figures.filtered},
      {"filtered_messages", figures.filtered_messages},
      {"is_verified", figures.is_verified},
      {"verified", figures.verified},
      {"broke", figures.broke},
      {"former_keys", figures.former_keys},
      {"dropped", figures.dropped},
      {"stale_accounts", figures.stale_accounts},
      {"unsettled_accounts", figures.unsettled_accounts},
      {"accounts_waiting", figures.accounts_waiting},
      {"handles_valid", figures.handles_valid},
      {"handles_invalid", figures.handles_invalid},
      {"handles_failed", figures.handles_failed},
      {"nuls_removed", figures.nuls_removed},
      {"reconnects", figures.reconnects},
      {"skipped", figures.skipped},
      {"restarts", figures.restarts},
      {"in_flight", figures.in_flight},
      {"commit_ms_p50", milliseconds_at(figures.latency, 0.5)},
      {"commit_ms_p99", milliseconds_at(figures.latency, 0.99)},
  };
  if (figures.role == Figures::Role::Active) json["role"] = "active";
  if (figures.role == Figures::Role::Standby) json["role"] = "standby";
  if (figures.cursor) json["cursor"] = *figures.cursor;
  if (figures.newest) {
    json["newest"] = format_datetime(*figures.newest);
    json["lag_seconds"] = seconds_between(*figures.newest, figures.at);
  }
  return json.dump();
}

std::string figures_line(const Figures& before, const Figures& now,
                         std::optional<std::int64_t> disk_bytes) {
  return rates(before, now) + "  " + lag_words(now) + commit_times(before, now) + "  " +
         cursor_words(now) + amounts(before, now, disk_bytes);
}

Figures total(const std::vector<Figures>& sources) {
  Figures all;
  bool has_first = false;
  for (const Figures& one : sources) {
    if (one.role == Figures::Role::Standby) continue;
    if (!std::exchange(has_first, true)) {
      all = one;
      continue;
    }
    all.frames += one.frames;
    all.bytes += one.bytes;
    all.accounts_waiting += one.accounts_waiting;
    all.in_flight += one.in_flight;
    for (std::size_t i = 0; i < all.latency.size(); ++i) all.latency[i] += one.latency[i];
  }
  return all;
}

std::string figures_line(const std::vector<Figures>& before, const std::vector<Figures>& now,
                         std::optional<std::int64_t> disk_bytes) {
  if (now.size() == 1) return figures_line(before.front(), now.front(), disk_bytes);
  const Figures then = total(before);
  const Figures all = total(now);
  std::string line = rates(then, all) + commit_times(then, all) + amounts(then, all, disk_bytes);
  for (const Figures& one : now) line += " | " + source_words(one);
  return line;
}

}  // namespace skua::app
