#include "pages/database_page.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "base/log.hpp"
#include "base/problem.hpp"
#include "consumers/consumer_table.hpp"
#include "pages/database_page.sql.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/outage.hpp"
#include "postgres/standby.hpp"
#include "status/consumer_status.hpp"

namespace skua::pages {

namespace {

struct DatabaseFacts {
  bool is_read_only;
  std::int32_t schema_version;
  std::int64_t dead_letters;
};

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kUntilNotified{60'000};

/// Limits the time of a statement, so that a lock of another session does not delay an answer
/// longer.
void limit_statements(postgres::Session& session) {
  session.run("SET statement_timeout = '10s'");
}

constexpr milliseconds kPause{60'000};
constexpr milliseconds kShortestLife{1'000};
constexpr milliseconds kLongestLife{60'000};

http_server::Response failure(const Problem& problem, std::string_view detail) {
  return http_server::error_response(503, problem.code, detail);
}

}  // namespace

DatabaseState read_database_state(postgres::Session& session) {
  DatabaseState state;
  const auto facts =
      session.query_one<DatabaseFacts>(sql::database_state, DatabaseState::kMostLetters);
  state.is_read_only = facts.is_read_only;
  state.standby_lag = postgres::standby_lag(session);
  state.schema_version = facts.schema_version;
  state.dead_letters = facts.dead_letters;
  state.bootstrap_is_open = backfill::bootstrap_is_open(session);
  for (const consumers::Consumer& consumer : consumers::read_all_consumers(session)) {
    consumers::ConsumerJudgement judgement = consumers::judge_consumer(consumer);
    if (judgement.level >= consumers::ConsumerJudgement::Level::Stuck) {
      state.stuck_consumers.push_back({consumer.name, std::move(judgement)});
    } else if (judgement.problem == &problem("former-tables")) {
      state.kept_tables.push_back({consumer.name, std::move(judgement)});
    }
  }
  state.inbox = consumers::read_inbox(session);
  state.consumers = status::read_consumer_metrics(session);
  return state;
}

DatabaseReader::DatabaseReader(postgres::Runtime& runtime, milliseconds fresh_for)
    : fresh_for_(fresh_for),
      thread_(runtime,
              {.session_name = postgres::process_name("skua pages"),
               .prepare = limit_statements,
               .component = "pages",
               .failure = "the state of the database cannot be read"},
              [this](postgres::LazySession& session, const std::stop_token& /*stop*/) {
                return round(session);
              }) {}

void DatabaseReader::stop() {
  thread_.stop();
}

std::optional<DatabaseState> DatabaseReader::get(milliseconds patience) {
  std::unique_lock lock(mutex_);
  const auto now = SteadyClock::now();
  if (read_at_ && now - *read_at_ < fresh_for_) return state_;
  if (!asked_at_) asked_at_ = now;
  thread_.notify();
  answered_.wait_for(lock, patience, [&, before = reads_] { return reads_ != before; });
  return state_;
}

std::optional<milliseconds> DatabaseReader::unanswered(TimePoint now) const {
  const std::scoped_lock lock(mutex_);
  if (!asked_at_) return std::nullopt;
  return std::chrono::duration_cast<milliseconds>(now - *asked_at_);
}

milliseconds DatabaseReader::round(postgres::LazySession& session) {
  {
    const std::scoped_lock lock(mutex_);
    if (!asked_at_) return kUntilNotified;
  }
  std::optional<DatabaseState> state;
  try {
    state = read_database_state(session.get());
    logged_.clear();
  } catch (const postgres::ServerError&) {
    // The last state may be out of date, so it is removed. The thread repeats the round.
    const std::scoped_lock lock(mutex_);
    state_.reset();
    ++reads_;
    answered_.notify_all();
    throw;
  } catch (const postgres::SqlError& error) {
    // Either the schema has another version, or this role may not read it.
    session.reset();
    if (logged_ != error.what()) {
      logged_ = error.what();
      logger("pages")->warn("the state of the database cannot be read: {}", logged_);
    }
  }
  const std::scoped_lock lock(mutex_);
  state_ = std::move(state);
  read_at_ = SteadyClock::now();
  asked_at_.reset();
  ++reads_;
  answered_.notify_all();
  return kUntilNotified;
}

milliseconds lifetime_of_answer(milliseconds duration) {
  return std::clamp(20 * duration, kShortestLife, kLongestLife);
}

DatabasePage::DatabasePage(postgres::Runtime& runtime, Options options)
    : options_(std::move(options)),
      thread_(runtime,
              {.session_name = postgres::process_name("skua page"),
               .component = "pages",
               .failure = options_.failure},
              [this](postgres::LazySession& session, const std::stop_token& /*stop*/) {
                return round(session);
              }) {}

void DatabasePage::answer(std::shared_ptr<http_server::Exchange> exchange) {
  // The thread may be waiting for the server, so the request is answered here at once.
  if (const auto outage = postgres::outage_monitor().current()) {
    return exchange->answer(failure(postgres::problem_of_outage(outage->reason), outage->reason));
  }
  waiting_.with([&](Exchanges& waiting) { waiting.push_back(std::move(exchange)); });
  thread_.notify();
}

milliseconds DatabasePage::round(postgres::LazySession& session) {
  const auto waiting =
      waiting_.with([](Exchanges& all) { return std::exchange(all, Exchanges()); });
  if (waiting.empty()) return kPause;
  const http_server::Response answer = response(session);
  for (const auto& exchange : waiting) exchange->answer(answer);
  return kPause;
}

http_server::Response DatabasePage::response(postgres::LazySession& session) {
  if (const auto now = SteadyClock::now(); latest_.empty() || now >= valid_until_) {
    try {
      latest_ =
          options_.read(session).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
          "\n";
      read_at_ = now;
      const auto end = SteadyClock::now();
      valid_until_ = end + lifetime_of_answer(std::chrono::duration_cast<milliseconds>(end - now));
    } catch (const postgres::SqlError& error) {
      latest_.clear();
      session.reset();
      const Problem* const problem = postgres::problem_of(error);
      return problem != nullptr ? failure(*problem, error.what())
                                : http_server::error_response(503, "DatabaseError", error.what());
    }
  }
  const auto age = std::chrono::floor<std::chrono::seconds>(SteadyClock::now() - read_at_);
  return {.body = latest_, .age = age};
}

}  // namespace skua::pages
