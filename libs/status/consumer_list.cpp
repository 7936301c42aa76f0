#include "status/consumer_list.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/number_text.hpp"
#include "base/utf8.hpp"
#include "command_line/table.hpp"
#include "feed/consumers/consumer_judgement.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/projections/projection.hpp"
#include "status/lag.hpp"

namespace skua::status {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestError = 300;

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
  return fmt::format("{} behind, {}", counted(behind, "change"),
                     lag_text(Seconds(consumer["lag_seconds"].get<double>())));
}

/// Since its last batch that succeeded; null: that was the last batch.
json failures_of(const feed::Consumer& consumer) {
  const feed::ConsumerLane* const lane = feed::failing_lane(consumer);
  if (lane == nullptr) return nullptr;
  return {{"since", format_datetime(*lane->failing_since)},
          {"seconds", std::chrono::duration<double>(lane->failing_for).count()},
          {"count", feed::failures_in_a_row(consumer)},
          {"cause", feed::to_string(lane->cause)},
          {"error", lane->error}};
}

}  // namespace

json read_consumer_list(store::Session& session) {
  json all = json::array();
  for (const feed::Consumer& consumer : feed::read_consumers(session)) {
    const feed::ConsumerJudgement judgement = feed::judge_consumer(consumer);
    json lanes = json::array();
    for (const feed::ConsumerLane& lane : consumer.lanes) {
      lanes.push_back({{"lane", lane.lane},
                       {"position", lane.pos},
                       {"attempts", lane.attempts},
                       {"failures", lane.failures},
                       {"error", lane.error},
                       {"is_blocked", lane.is_blocked},
                       {"waiting_accounts", lane.waiting_accounts},
                       {"retry_seconds", seconds_or_null(lane.retry_in)}});
    }
    all.push_back({{"name", consumer.name},
                   {"kind", consumer.kind},
                   {"help", help_of(consumer)},
                   {"state", judgement.state},
                   {"code", judgement.problem == nullptr ? json() : json(judgement.problem->code)},
                   {"reason", judgement.reason},
                   {"cure", judgement.cure},
                   {"failures", failures_of(consumer)},
                   {"is_served", consumer.is_served},
                   {"is_paused", consumer.paused},
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

std::string consumer_list_text(const json& consumers, std::size_t indent) {
  if (consumers.empty()) return {};
  command_line::Table table({{"consumer"}, {"state"}, {"progress"}, {"content"}});
  for (const json& consumer : consumers) {
    table.add({consumer["name"].get<std::string>(), consumer["state"].get<std::string>(),
               progress_text(consumer), consumer["help"].get<std::string>()});
    for (const char* note : {"reason", "cure"}) {
      if (auto text = consumer[note].get<std::string>(); !text.empty())
        table.add_note(std::move(text));
    }
  }
  return table.text(indent);
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
  for (const char* note : {"reason", "cure"}) {
    if (const auto line = consumer[note].get<std::string>(); !line.empty()) {
      text += "  " + line + "\n";
    }
  }
  for (const json& lane : consumer["lanes"]) {
    text += fmt::format("  lane {}: next position {}", lane["lane"].dump(),
                        with_commas(lane["position"].get<std::int64_t>()));
    if (lane["failures"] != 0) {
      text += fmt::format(", {}: {}", counted(lane["failures"].get<std::int64_t>(), "failure"),
                          printable(lane["error"].get<std::string>(), kLongestError));
    }
    if (lane["is_blocked"] == true) text += "; blocked";
    if (lane["waiting_accounts"] != 0) {
      text += fmt::format("; changes of {} wait for dead letters",
                          counted(lane["waiting_accounts"].get<std::int64_t>(), "account"));
    }
    text += "\n";
  }
  return text;
}

}  // namespace skua::status
