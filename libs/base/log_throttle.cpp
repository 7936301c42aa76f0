#include "base/log_throttle.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/seeded_hash.hpp"

namespace skua {

bool LogThrottle::admit(const Site& site, std::string_view message, Time now) {
  const auto [place, is_new] = windows_.try_emplace(site);
  Window& window = place->second;
  if (is_new) {
    window.begins = now;
    next_end_ = std::min(next_end_, now + kWindow);
  }
  const std::size_t hash = seeded_hash(message);
  const bool is_repeated =
      std::find(window.written.begin(), window.written.end(), hash) != window.written.end();
  if (!window.is_muted && !is_repeated && window.written.size() < kLines) {
    window.written.push_back(hash);
    return true;
  }
  ++window.left_out;
  window.last_left_out = message;
  return false;
}

std::vector<LogThrottle::Summary> LogThrottle::due(Time now) {
  std::vector<Summary> summaries;
  if (now < next_end_) return summaries;
  next_end_ = Time::max();
  for (auto place = windows_.begin(); place != windows_.end();) {
    Window& window = place->second;
    if (now >= window.begins + kWindow) {
      if (window.left_out == 0) {
        place = windows_.erase(place);
        continue;
      }
      summaries.push_back(summary_of(place->first, window, now));
      window = Window();
      window.begins = now;
      window.is_muted = true;
    }
    next_end_ = std::min(next_end_, window.begins + kWindow);
    ++place;
  }
  return summaries;
}

std::vector<LogThrottle::Summary> LogThrottle::rest(Time now) {
  std::vector<Summary> summaries;
  for (const auto& [site, window] : windows_) {
    if (window.left_out > 0) summaries.push_back(summary_of(site, window, now));
  }
  windows_.clear();
  next_end_ = Time::max();
  return summaries;
}

LogThrottle::Summary LogThrottle::summary_of(const Site& site, const Window& window, Time now) {
  const auto seconds = std::max(
      std::chrono::ceil<std::chrono::seconds>(now - window.begins).count(), std::int64_t{1});
  return {site.logger, site.level,
          fmt::format("{} ({} more like this in {} s)", window.last_left_out, window.left_out,
                      seconds)};
}

}  // namespace skua
