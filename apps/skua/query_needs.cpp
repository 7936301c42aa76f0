#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/number_text.hpp"
#include "base/time.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "index.hpp"
#include "query_note.hpp"

namespace skua::cli {
namespace {

/// As bsky.is_current.
constexpr std::chrono::minutes kCurrent{1};

bool is_blocked(const feed::Consumer& consumer) {
  return std::any_of(consumer.lanes.begin(), consumer.lanes.end(),
                     [](const feed::ConsumerLane& lane) { return lane.is_blocked; });
}

std::string behind_text(const feed::Consumer& consumer) {
  if (!consumer.behind || *consumer.behind == 0) return "";
  const auto lag = consumer.lag.value_or(std::chrono::milliseconds(0));
  return fmt::format(" and {} {} ({}) behind", with_commas(*consumer.behind),
                     noun_for(*consumer.behind, "change"),
                     duration_text(std::chrono::duration_cast<std::chrono::seconds>(lag)));
}

/// A built projection that does not follow the change log.
QueryNote stale_projection(const feed::Consumer& consumer, const std::string& what,
                           const std::string& action) {
  return {fmt::format("the projection {} is {}{}: its part of the answer is old or empty",
                      consumer.name, what, behind_text(consumer)),
          {fmt::format("consumers {} {}", action, consumer.name)}};
}

std::optional<QueryNote> judge_live(const feed::Consumer& consumer) {
  if (consumer.state == "lagged out") return stale_projection(consumer, "lagged out", "rebuild");
  if (consumer.state == "stopped" || is_blocked(consumer)) {
    return stale_projection(consumer, "stopped by an error", "reset");
  }
  if (consumer.paused && consumer.behind.value_or(0) > 0) {
    return stale_projection(consumer, "paused", "resume");
  }
  if (consumer.lag.value_or(std::chrono::milliseconds(0)) >= kCurrent) {
    return QueryNote{
        fmt::format("the projection {} is {} behind ({}): its part of the answer is old or empty. "
                    "`skua run` brings it up to date, and if none runs, this command does",
                    consumer.name, counted(consumer.behind.value_or(0), "change"),
                    duration_text(std::chrono::duration_cast<std::chrono::seconds>(*consumer.lag))),
        {"consumers run-until-idle " + consumer.name}};
  }
  return std::nullopt;
}

QueryNote judge_build(const feed::Consumer& consumer, const std::string& without) {
  const std::string& name = consumer.name;
  if (!consumer.error.empty() || consumer.state == "stopped" || consumer.state == "lagged out") {
    return {fmt::format("the build of the projection {} failed: {}. Until it is built, {}", name,
                        consumer.error.empty() ? consumer.state : consumer.error, without),
            {"consumers rebuild " + name, "consumers run-until-idle " + name}};
  }
  return {fmt::format("the projection {} is being built: until then, {}. `skua run` builds it, and "
                      "if none runs, this command does",
                      name, without),
          {"consumers run-until-idle " + name}};
}

std::optional<QueryNote> judge_projection(const std::vector<feed::Consumer>& consumers,
                                          const QueryNeed& need) {
  const auto find = [&](const char* role) {
    return std::find_if(consumers.begin(), consumers.end(), [&](const feed::Consumer& consumer) {
      return consumer.name == need.name && consumer.role == role;
    });
  };
  if (const auto live = find("live"); live != consumers.end()) return judge_live(*live);
  if (const auto next = find("next"); next != consumers.end()) {
    return judge_build(*next, need.without);
  }
  return QueryNote{fmt::format("the projection {} does not exist: {}. The first command adds it. "
                               "`skua run` builds it, and if none runs, the second command does",
                               need.name, need.without),
                   {"consumers add " + need.name, "consumers run-until-idle " + need.name}};
}

std::optional<QueryNote> judge_index(store::Session& session, const QueryNeed& need) {
  const OptionalIndex* const index = find_optional_index(need.name);
  if (index == nullptr) throw std::logic_error("no optional index " + need.name);
  const std::string add = fmt::format("index add {}", need.name);
  switch (read_index_state(session, *index).progress) {
    case IndexState::Progress::Missing:
      return QueryNote{fmt::format("the index {} does not exist: {}", need.name, need.without),
                       {add}};
    case IndexState::Progress::Building:
      return QueryNote{fmt::format("the index {} is being built: until then the query reads the "
                                   "whole table",
                                   need.name),
                       {"index list"}};
    case IndexState::Progress::Incomplete:
      return QueryNote{fmt::format("the build of the index {} was interrupted: the query reads "
                                   "the whole table",
                                   need.name),
                       {add}};
    case IndexState::Progress::Complete:
      break;
  }
  return std::nullopt;
}

std::optional<QueryNote> judge_labels(store::Session& session, const QueryNeed& need) {
  if (session.run("SELECT EXISTS (SELECT FROM bsky.labels)").boolean(0, 0)) return std::nullopt;
  return QueryNote{fmt::format("the database has no labels: {}. `skua run` reads them from "
                               "labelers: --labeler URL, or --discover-labelers",
                               need.without),
                   {}};
}

}  // namespace

std::vector<QueryNote> missing_needs(store::Session& session, const NamedQuery& query,
                                     const Invocation& invocation) {
  std::vector<QueryNote> notes;
  std::optional<std::vector<feed::Consumer>> consumers;
  for (const QueryNeed& need : query.needs) {
    std::optional<QueryNote> note;
    switch (need.kind) {
      case QueryNeed::Kind::Projection:
        if (!consumers) consumers = feed::read_consumers(session);
        note = judge_projection(*consumers, need);
        break;
      case QueryNeed::Kind::Index:
        note = judge_index(session, need);
        break;
      case QueryNeed::Kind::Labels:
        note = judge_labels(session, need);
    }
    if (!note) continue;
    for (std::string& command : note->commands) command = invocation.command_to_copy(command);
    notes.push_back(std::move(*note));
  }
  return notes;
}

}  // namespace skua::cli
