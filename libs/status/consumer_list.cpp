#include "status/consumer_list.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/number_text.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/projections/projection.hpp"

namespace skua::status {
namespace {

using nlohmann::json;

/// The state as people see it. A rebuild runs beside the live consumer of the same name.
std::string state_of(const feed::Consumer& consumer) {
  if (consumer.paused) return "paused";
  if (consumer.role == "next") return consumer.state == "running" ? "catching up" : "building";
  return consumer.state;
}

/// One sentence about the consumer.
std::string help_of(const feed::Consumer& consumer) {
  if (consumer.kind == "webhook") return "Changes that `skua serve` sends to " + consumer.url;
  if (consumer.kind == "pull") return "Changes that a program fetches from `skua serve`";
  const feed::Projection* projection = feed::find_projection(consumer.name);
  return projection != nullptr ? std::string(projection->help) : "";
}

json seconds_or_null(const std::optional<std::chrono::milliseconds>& time) {
  return time ? json(std::chrono::duration<double>(*time).count()) : json();
}

std::string progress_text(const json& consumer) {
  if (consumer["changes_behind"].is_null()) return "";
  const auto behind = consumer["changes_behind"].get<std::int64_t>();
  if (behind == 0) return "up to date";
  return fmt::format("{} behind, {:.1f} s", counted(behind, "change"),
                     consumer["lag_seconds"].get<double>());
}

}  // namespace

json read_consumer_list(store::Session& session) {
  json all = json::array();
  for (const feed::Consumer& consumer : feed::read_consumers(session)) {
    json lanes = json::array();
    for (const feed::ConsumerLane& lane : consumer.lanes) {
      lanes.push_back({{"lane", lane.lane},
                       {"position", lane.pos},
                       {"attempts", lane.attempts},
                       {"error", lane.error},
                       {"is_blocked", lane.is_blocked},
                       {"waiting_accounts", lane.waiting_accounts},
                       {"retry_seconds", seconds_or_null(lane.retry_in)}});
    }
    all.push_back({{"name", consumer.name},
                   {"kind", consumer.kind},
                   {"help", help_of(consumer)},
                   {"state", state_of(consumer)},
                   {"is_live", consumer.role == "live"},
                   {"version", consumer.version},
                   {"policy", consumer.policy},
                   {"profile", consumer.profile},
                   {"overrides", json::parse(consumer.overrides)},
                   {"filter", json::parse(consumer.filter)},
                   {"lanes", lanes},
                   {"changes_behind", consumer.behind ? json(*consumer.behind) : json()},
                   {"lag_seconds", seconds_or_null(consumer.lag)},
                   {"error", consumer.error}});
  }
  return all;
}

std::string consumer_list_text(const json& consumers) {
  std::string text;
  for (const json& consumer : consumers) {
    text += fmt::format("  {:<16}{:<14}{:<30}{}\n", consumer["name"].get<std::string>(),
                        consumer["state"].get<std::string>(), progress_text(consumer),
                        consumer["help"].get<std::string>());
    if (const auto error = consumer["error"].get<std::string>(); !error.empty()) {
      text += "    " + error + "\n";
    }
  }
  return text;
}

std::string consumer_text(const json& consumer) {
  std::string text = fmt::format(
      "{}  {}  {}\n  {}\n  version {}, policy {}, profile {}", consumer["name"].get<std::string>(),
      consumer["state"].get<std::string>(), progress_text(consumer),
      consumer["help"].get<std::string>(), consumer["version"].dump(),
      consumer["policy"].get<std::string>(), consumer["profile"].get<std::string>());
  if (!consumer["overrides"].empty()) text += " " + consumer["overrides"].dump();
  if (!consumer["filter"].empty()) text += "\n  filter " + consumer["filter"].dump();
  text += "\n";
  if (const auto error = consumer["error"].get<std::string>(); !error.empty()) {
    text += "  " + error + "\n";
  }
  for (const json& lane : consumer["lanes"]) {
    text += fmt::format("  lane {}: next position {}", lane["lane"].dump(),
                        with_commas(lane["position"].get<std::int64_t>()));
    if (lane["attempts"] != 0) {
      text += fmt::format(", {}: {}", counted(lane["attempts"].get<std::int64_t>(), "failure"),
                          lane["error"].get<std::string>());
    } else if (const auto error = lane["error"].get<std::string>(); !error.empty()) {
      text += ", waits: " + error;
    }
    if (lane["is_blocked"] == true) text += "; blocked: `skua consumers reset` continues it";
    if (lane["waiting_accounts"] != 0) {
      text += fmt::format("; changes of {} wait for dead letters",
                          counted(lane["waiting_accounts"].get<std::int64_t>(), "account"));
    }
    text += "\n";
  }
  return text;
}

}  // namespace skua::status
