#include "postgres/server_clock.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/problem.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/server_clock.sql.hpp"

namespace skua::postgres {

namespace {

using std::chrono::microseconds;

/// The error of a comparison is at most half of this time.
constexpr std::chrono::seconds kLongestAnswer{2};

microseconds steady_now() {
  return std::chrono::floor<microseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

constexpr std::chrono::minutes kLogAgain{10};

void to_log_as_warning(const std::string& text) {
  logger("clock")->warn("{}", with_code(text, problem("clock-wrong")));
}

void to_log(const std::string& text) {
  logger("clock")->info("{}", text);
}

}  // namespace

Timestamp server_time(Session& session) {
  return session.query_one<Timestamp>(sql::server_clock_now);
}

ServerClock::ServerClock(const Clock& ours) : ours_(ours) {
  set(ours.now(), steady_now());
}

void ServerClock::compare(Session& session) {
  const microseconds asked = steady_now();
  const Timestamp time = server_time(session);
  const microseconds answered = steady_now();
  // The first comparison counts even if it is slow, because no better one exists.
  if (compared_ && answered - asked > kLongestAnswer) return;
  set(time, asked + (answered - asked) / 2);
  compared_ = true;
}

Timestamp ServerClock::now() const {
  return Timestamp(steady_now() + microseconds(offset_.load(std::memory_order_relaxed)));
}

std::optional<microseconds> ServerClock::ahead() const {
  if (!compared_) return std::nullopt;
  return now() - ours_.now();
}

void ServerClock::set(Timestamp now, microseconds steady) {
  offset_ = (now.time_since_epoch() - steady).count();
}

std::optional<std::string> clock_difference_text(std::chrono::microseconds server_ahead) {
  const auto whole = std::chrono::round<std::chrono::seconds>(std::chrono::abs(server_ahead));
  if (whole < kClocksAgree) return std::nullopt;
  return fmt::format("{} {}", duration_text(whole),
                     server_ahead.count() > 0 ? "behind" : "ahead of");
}

ClockWatch::ClockWatch(Options options, const Clock& clock)
    : options_(std::move(options)),
      runtime_(options_.database_url, clock, end_process),
      server_(clock),
      latest_(clock, server_),
      thread_(runtime_, {.session_name = process_name("skua clock")},
              [this](LazySession& session, const std::stop_token& /*stop*/) {
                look(session);
                return options_.interval;
              }) {
  look(thread_.session());
  thread_.start();
}

void ClockWatch::look(LazySession& session) {
  try {
    server_.compare(session.get());
  } catch (const SqlError& error) {
    session.reset();
    logger("clock")->debug("PostgreSQL's clock cannot be read: {}", error.what());
    return;
  }
  if (const auto ahead = server_.ahead()) tell(*ahead);
}

void ClockWatch::tell(std::chrono::microseconds ahead) {
  const auto difference = clock_difference_text(ahead);
  const auto now = std::chrono::steady_clock::now();
  if (!difference) {
    if (!std::exchange(logged_difference_, std::nullopt)) return;
    (options_.info ? options_.info
                   : to_log)("the clocks of this machine and of PostgreSQL agree again");
    return;
  }
  const bool has_changed =
      !logged_difference_ || std::chrono::abs(*logged_difference_ - ahead) >= kClocksAgree;
  if (!has_changed && now - logged_at_ < kLogAgain) return;
  logged_difference_ = ahead;
  logged_at_ = now;
  (options_.warn ? options_.warn : to_log_as_warning)(fmt::format(
      "the clock of this machine is {} PostgreSQL's: one of the two is wrong; until they agree "
      "the later one says which revisions lie in the future",
      *difference));
}

}  // namespace skua::postgres
