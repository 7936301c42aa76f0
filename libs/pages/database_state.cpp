#include "pages/database_state.hpp"

#include <utility>

#include <fmt/format.h>

#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "status/consumer_metrics.hpp"

namespace skua::pages {

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
    feed::ConsumerJudgement judgement = feed::judge_consumer(consumer);
    if (judgement.level < feed::ConsumerJudgement::Level::Stuck) continue;
    state.stuck_consumers.push_back({consumer.name, std::move(judgement)});
  }
  state.consumers = status::read_consumer_metrics(session);
  return state;
}

}  // namespace skua::pages
