#include "pages/database_state.hpp"

#include <utility>

#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "pages/database_state.sql.hpp"
#include "status/consumer_metrics.hpp"

namespace skua::pages {
namespace {

struct DatabaseFacts {
  bool is_read_only;
  std::int32_t schema_version;
  std::int64_t dead_letters;
};

}  // namespace

DatabaseState read_database_state(store::Session& session) {
  DatabaseState state;
  const auto facts =
      session.query_one<DatabaseFacts>(sql::database_state, DatabaseState::kMostLetters);
  state.is_read_only = facts.is_read_only;
  state.schema_version = facts.schema_version;
  state.dead_letters = facts.dead_letters;
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
