#include "sources/connection_log.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"

namespace skua::sources {

ConnectionLog::ConnectionLog(std::string log, std::string source, std::string advice,
                             bool is_detail)
    : log_(std::move(log)),
      source_(std::move(source)),
      advice_(std::move(advice)),
      is_detail_(is_detail) {
  begins();
}

void ConnectionLog::begins() {
  state_.with([](State& state) { state = {.changed_at = std::chrono::steady_clock::now()}; });
}

bool ConnectionLog::set_connected(bool connected) {
  return state_.with([&](State& state) {
    const bool was_connected = std::exchange(state.connected, connected);
    if (was_connected != connected) state.changed_at = std::chrono::steady_clock::now();
    return was_connected;
  });
}

ConnectionLog::State ConnectionLog::state() const {
  return state_.with([](const State& state) { return state; });
}

void ConnectionLog::on_connected() {
  failures_ = 0;
  set_connected(true);
}

void ConnectionLog::on_disconnected(const transport::Disconnection& end) {
  const bool was_connected = set_connected(false);
  state_.with([&](State& state) {
    state.failure = end.reason;
    state.problem = end.problem;
  });
  ++failures_;
  if (is_detail_) {
    logger(log_)->debug("no connection to {}: {}", source_, end.reason);
    return;
  }
  const double seconds = static_cast<double>(end.next_attempt_in.count()) / 1000.0;
  const std::string wait = fmt::format("retrying in {:.1f} s", seconds);
  const std::string rest = end.problem != nullptr ? with_code(wait, *end.problem) : wait;
  if (was_connected) {
    logger(log_)->warn("the connection to {} ended: {}; {}", source_, end.reason, rest);
  } else {
    logger(log_)->warn("cannot reach {}: {}; {}", source_, end.reason, rest);
    if (failures_ == 1) logger(log_)->warn("{}", advice_);
  }
}

}  // namespace skua::sources
