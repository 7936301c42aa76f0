#include "pages/database_reader.hpp"

#include <utility>

#include "base/log.hpp"
#include "store/process_name.hpp"

namespace skua::pages {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kUntilNotified{60'000};

/// No lock of another session delays an answer longer.
void limit_statements(store::Session& session) {
  session.run("SET statement_timeout = '10s'");
}

}  // namespace

DatabaseReader::DatabaseReader(store::Runtime& runtime, milliseconds fresh_for)
    : fresh_for_(fresh_for),
      thread_(runtime,
              {.session_name = store::process_name("skua pages"),
               .prepare = limit_statements,
               .component = "pages",
               .failure = "the state of the database cannot be read"},
              [this](store::LazySession& session, const std::stop_token& /*stop*/) {
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

milliseconds DatabaseReader::round(store::LazySession& session) {
  {
    const std::scoped_lock lock(mutex_);
    if (!asked_at_) return kUntilNotified;
  }
  std::optional<DatabaseState> state;
  try {
    state = read_database_state(session.get());
    logged_.clear();
  } catch (const store::ServerError&) {
    // The last state may be out of date. The thread repeats the round.
    const std::scoped_lock lock(mutex_);
    state_.reset();
    ++reads_;
    answered_.notify_all();
    throw;
  } catch (const store::SqlError& error) {
    // The schema is of another version, or this role may not read it.
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

}  // namespace skua::pages
