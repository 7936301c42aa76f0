#include "app/figures.hpp"

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
  if (figures.cursor) json["cursor"] = *figures.cursor;
  if (figures.newest) {
    json["newest"] = format_datetime(*figures.newest);
    json["lag_seconds"] = seconds_between(*figures.newest, figures.at);
  }
  return json.dump();
}

std::string figures_line(const Figures& before, const Figures& now,
                         std::optional<std::int64_t> disk_bytes) {
  const double seconds = seconds_between(before.at, now.at);
  std::string line = fmt::format(
      "{:%H:%M:%S}  {:.0f} events/s  {:.0f} rows/s",
      fmt::gmtime(
          std::chrono::duration_cast<std::chrono::seconds>(now.at.time_since_epoch()).count()),
      per_second(before.events, now.events, seconds), per_second(before.rows, now.rows, seconds));
  if (!now.connected) {
    line += "  not connected";
  } else if (now.newest) {
    line += fmt::format("  lag {:.1f} s", seconds_between(*now.newest, now.at));
  } else {
    line += "  lag -";
  }
  const auto took = LatencyHistogram::between(before.latency, now.latency);
  if (const double p99 = milliseconds_at(took, 0.99); p99 > 0) {
    line += fmt::format("  commit {:.0f}/{:.0f} ms", milliseconds_at(took, 0.5), p99);
  }
  line += now.cursor ? fmt::format("  cursor {}", *now.cursor) : "  cursor -";
  line += "  " + per_day(static_cast<double>(now.bytes - before.bytes), seconds) + " in";
  if (disk_bytes) line += ", " + per_day(static_cast<double>(*disk_bytes), seconds) + " on disk";
  if (now.accounts_waiting > 0) line += fmt::format("  {} await keys", now.accounts_waiting);
  if (now.dead_letters > 0) line += fmt::format("  {} dead letters", now.dead_letters);
  return line;
}

}  // namespace skua::app
