#include "status/lag.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/time.hpp"

namespace skua::status {

std::optional<Seconds> saved_lag(const store::StoredSource& source, bool is_read) {
  if (!is_read || !source.metrics) return std::nullopt;
  if (Seconds(source.metrics_age_seconds.value_or(0)) > kOldMetrics) return std::nullopt;
  // Only a value of the expected type and range counts: users may write to the table.
  const auto metrics = nlohmann::json::parse(*source.metrics, nullptr, false);
  if (!metrics.is_object()) return std::nullopt;
  const auto found = metrics.find("lag_seconds");
  if (found == metrics.end() || !found->is_number()) return std::nullopt;
  constexpr double kLongest = 1e10;
  return Seconds(std::clamp(found->get<double>(), 0.0, kLongest));
}

std::string lag_text(Seconds lag) {
  if (lag < std::chrono::minutes(2)) return fmt::format("{:.1f} s", lag.count());
  return duration_text(std::chrono::duration_cast<std::chrono::seconds>(lag));
}

}  // namespace skua::status
