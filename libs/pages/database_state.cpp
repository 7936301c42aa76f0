#include "pages/database_state.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "base/count_text.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "status/consumer_metrics.hpp"

namespace skua::pages {
namespace {

/// A lane whose change or request failed so often in a row does not advance.
constexpr std::int32_t kManyFailures = 3;

std::string with_error(std::string_view what, std::string_view error) {
  return error.empty() ? std::string(what) : fmt::format("{}: {}", what, error);
}

/// Why a consumer does not advance; empty: it does.
std::string stuck_reason(const feed::Consumer& consumer) {
  if (consumer.paused) return "it is paused";
  if (consumer.state == "stopped") return with_error("it stopped", consumer.error);
  if (consumer.state == "lagged out") return with_error("it lagged out", consumer.error);
  if (!consumer.error.empty()) return consumer.error;
  for (const feed::ConsumerLane& lane : consumer.lanes) {
    if (lane.is_blocked) {
      return with_error(fmt::format("a failed change blocks lane {}", lane.lane), lane.error);
    }
    if (lane.attempts >= kManyFailures) {
      return with_error(fmt::format("lane {}, {}", lane.lane, counted(lane.attempts, "failure")),
                        lane.error);
    }
  }
  return {};
}

}  // namespace

DatabaseState read_database_state(store::Session& session) {
  DatabaseState state;
  state.is_read_only =
      session.run("SELECT current_setting('transaction_read_only') = 'on'").boolean(0, 0);
  state.dead_letters =
      session
          .run(fmt::format(
              "SELECT count(*) FROM (SELECT FROM skua.dead_letter_errors LIMIT {}) AS l",
              DatabaseState::kMostLetters))
          .int8(0, 0);
  state.schema_version =
      session.run("SELECT coalesce(max(version), 0) FROM skua.migrations").int4(0, 0);
  state.bootstrap_is_open = backfill::bootstrap_is_open(session);
  for (const feed::Consumer& consumer : feed::read_consumers(session)) {
    if (consumer.role == "retired") continue;
    if (std::string reason = stuck_reason(consumer); !reason.empty()) {
      state.stuck_consumers.push_back({consumer.name, std::move(reason)});
    }
  }
  state.consumers = status::read_consumer_metrics(session);
  return state;
}

}  // namespace skua::pages
