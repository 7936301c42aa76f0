#include "status/standby_status.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "postgres/standby.hpp"
#include "status/reports.hpp"

namespace skua::status {

namespace {

constexpr MetricInfo kStandbyLag{"", "skua_standby_lag_seconds", "seconds",
                                 "How far the rows of a standby are behind its primary; missing "
                                 "for a primary"};

}  // namespace

std::vector<MetricValue> values_of_standby(StandbyLag lag) {
  if (!lag) return {};
  return {{kStandbyLag, MetricKind::Gauge, Seconds(*lag).count()}};
}

nlohmann::json read_standby_status(postgres::Session& session) {
  const StandbyLag lag = postgres::standby_lag(session);
  if (!lag) return nullptr;
  return {{"lag_seconds", Seconds(*lag).count()}};
}

std::string standby_status_text(const nlohmann::json& standby) {
  if (standby.is_null()) return {};
  return fmt::format(
      "a standby, {} behind its primary; only the primary knows which processes work\n",
      lag_text(Seconds(standby["lag_seconds"].get<double>())));
}

std::string standby_text(std::chrono::milliseconds lag) {
  return fmt::format("this standby is {} behind its primary", lag_text(lag));
}

}  // namespace skua::status
