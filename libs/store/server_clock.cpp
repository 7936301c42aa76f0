#include "store/server_clock.hpp"

#include "store/server_clock.sql.hpp"
namespace skua::store {
namespace {

using std::chrono::microseconds;

/// The error of a comparison is at most half of this.
constexpr std::chrono::seconds kLongestAnswer{2};

microseconds steady_now() {
  return std::chrono::floor<microseconds>(std::chrono::steady_clock::now().time_since_epoch());
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

}  // namespace skua::store
