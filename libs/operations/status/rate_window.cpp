#include "status/rate_window.hpp"

namespace skua::status {
namespace {

constexpr std::chrono::seconds kRateWindow{60};
/// The minimum time over which the growth on disk is measured, because files grow in steps and
/// sometimes shrink.
constexpr std::chrono::seconds kLeastDiskTime{50};

double seconds_of(Timestamp::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Counts of a source only grow, but the process may switch to the counts of another source.
double grown(std::uint64_t before, std::uint64_t now) {
  return now > before ? static_cast<double>(now - before) : 0;
}

}  // namespace

Rates RateWindow::add(const pipeline::Metrics& all,
                      const std::optional<DatabaseSize::Sample>& disk) {
  // If the clock was set back, the earlier samples are useless.
  if (!samples_.empty() && samples_.back().at > all.at) samples_.clear();
  const std::uint64_t events = all.count("events");
  const std::uint64_t rows = all.count("rows");
  samples_.push_back({all.at, events, rows, all.latency, disk});
  while (samples_.size() > 2 && samples_[1].at + kRateWindow <= all.at) samples_.pop_front();
  const Sample& first = samples_.front();
  Rates rates;
  rates.at = all.at;
  if (const double seconds = seconds_of(all.at - first.at); seconds > 0) {
    rates.events = grown(first.events, events) / seconds;
    rates.rows = grown(first.rows, rows) / seconds;
    rates.latency = LatencyHistogram::between(first.latency, all.latency);
  }
  rates.disk_bytes = disk_growth();
  return rates;
}

std::optional<double> RateWindow::disk_growth() const {
  const auto& now = samples_.back().disk;
  if (!now) return std::nullopt;
  for (const Sample& sample : samples_) {
    if (!sample.disk) continue;
    if (now->at - sample.disk->at < kLeastDiskTime) return std::nullopt;
    const double minutes = seconds_of(now->at - sample.disk->at) / 60;
    return static_cast<double>(now->bytes - sample.disk->bytes) / minutes;
  }
  return std::nullopt;
}

}  // namespace skua::status
