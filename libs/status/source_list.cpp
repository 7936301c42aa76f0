#include "status/source_list.hpp"

#include "command_line/table.hpp"
#include "status/json_columns.hpp"
#include "status/lag.hpp"
#include "store/source_lock.hpp"
#include "store/source_table.hpp"

namespace skua::status {
namespace {

using nlohmann::json;

std::string text_or_dash(const json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string duration_or_dash(const json& seconds) {
  return seconds.is_null() ? "-" : lag_text(Seconds(seconds.get<double>()));
}

}  // namespace

json read_source_list(store::Session& session) {
  json all = json::array();
  for (const store::StoredSource& source : store::read_sources(session)) {
    const auto holder = store::source_owner(session, source.name);
    const auto lag = saved_lag(source, holder.has_value());
    json object = {{"source", source.name},
                   {"kind", source.name.substr(0, source.name.find(':'))},
                   {"cursor", or_null(source.cursor)},
                   {"saved_at", or_null(source.saved_at)},
                   {"event_time", or_null(source.event_time)},
                   {"lag_seconds", lag ? json(lag->count()) : json(nullptr)},
                   {"cursor_age_seconds", or_null(source.cursor_age_seconds)},
                   {"metrics_age_seconds", or_null(source.metrics_age_seconds)},
                   {"metrics", nullptr},
                   {"holder", or_null(holder)}};
    if (source.metrics) object["metrics"] = json::parse(*source.metrics);
    all.push_back(std::move(object));
  }
  return all;
}

std::string source_list_text(const json& sources) {
  command_line::Table table({{"source"},
                             {"cursor", true},
                             {"saved at"},
                             {"lag", true},
                             {"cursor age", true},
                             {"read by"}});
  for (const json& source : sources) {
    table.add({source["source"].get<std::string>(), text_or_dash(source["cursor"]),
               text_or_dash(source["saved_at"]), duration_or_dash(source["lag_seconds"]),
               duration_or_dash(source["cursor_age_seconds"]), text_or_dash(source["holder"])});
  }
  return table.text();
}

}  // namespace skua::status
