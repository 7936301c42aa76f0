#include "status/source_list.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "status/json_columns.hpp"
#include "store/source_lock.hpp"
#include "store/source_table.hpp"

namespace skua::status {
namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

std::string text_or_dash(const json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

json read_source_list(store::Session& session) {
  json all = json::array();
  for (const store::StoredSource& source : store::read_sources(session)) {
    json object = {{"source", source.name},
                   {"kind", source.name.substr(0, source.name.find(':'))},
                   {"cursor", or_null(source.cursor)},
                   {"saved_at", time_or_null(source.saved_at)},
                   {"event_time", time_or_null(source.event_time)},
                   {"lag_seconds", or_null(source.lag_seconds)},
                   {"metrics_age_seconds", or_null(source.metrics_age_seconds)},
                   {"metrics", nullptr},
                   {"holder", or_null(store::source_owner(session, source.name))}};
    if (source.metrics) object["metrics"] = json::parse(*source.metrics);
    all.push_back(std::move(object));
  }
  return all;
}

std::string source_list_text(const json& sources) {
  std::size_t width = 6;
  for (const json& source : sources) {
    width = std::max(width, source["source"].get_ref<const std::string&>().size());
  }
  std::string text = fmt::format("{:<{}}  {:>16}  {:<27}  {:>12}  {}\n", "source", width, "cursor",
                                 "saved at", "lag", "read by");
  for (const json& source : sources) {
    const json& lag = source["lag_seconds"];
    text += fmt::format("{:<{}}  {:>16}  {:<27}  {:>12}  {}\n",
                        source["source"].get_ref<const std::string&>(), width,
                        text_or_dash(source["cursor"]), text_or_dash(source["saved_at"]),
                        lag.is_null() ? "-" : fmt::format("{:.1f} s", lag.get<double>()),
                        text_or_dash(source["holder"]));
  }
  return text;
}

}  // namespace skua::status
