#include "sources/intake.hpp"

#include "base/log.hpp"

namespace skua::sources {

Intake::Intake(IntakeServices services, std::string log, const std::string& url, std::string advice)
    : services_(std::move(services)),
      position_(services_.start),
      log_(std::move(log)),
      source_url_(url),
      connection_(log_, url, std::move(advice), services_.is_discovered) {
  if (position_) begins_after(*position_);
}

void Intake::begin_at(std::optional<std::int64_t> position) {
  position_ = position;
  end_.reset();
  waits_for_room_ = false;
  connection_.begins();
}

void Intake::when_room(std::function<void()> wake) {
  services_.pipeline.when_room(std::move(wake));
}

void Intake::warn(const std::string& message) const {
  if (services_.is_discovered) {
    logger(log_)->debug("{}", message);
  } else {
    logger(log_)->warn("{}", message);
  }
}

void Intake::on_ignored() {
  services_.pipeline.count_ignored();
  warn(source_url_ + " sent a message that is not binary: it is ignored");
}

void Intake::on_connected(std::uint64_t /*connection*/) {
  connection_.on_connected();
}

void Intake::on_disconnected(const transport::Disconnection& end) {
  waits_for_room_ = false;
  connection_.on_disconnected(end);
}

status::SourceState Intake::state() const {
  const ConnectionLog::State connection = connection_.state();
  status::SourceState state;
  state.connected = connection.connected;
  state.changed_at = connection.changed_at;
  state.heard_at = heard_at_;
  state.waits_for_room = waits_for_room_;
  state.may_be_silent = may_be_silent();
  state.failure = connection.failure;
  state.problem = connection.problem;
  const SteadyClock::time_point outdated_at = outdated_at_;
  if (outdated_at != SteadyClock::time_point()) state.outdated_at = outdated_at;
  return state;
}

void Intake::cursor_outdated() {
  outdated_at_ = SteadyClock::now();
}

std::optional<std::int64_t> Intake::began_after() const {
  const std::int64_t position = began_after_;
  return position < 0 ? std::nullopt : std::optional(position);
}

bool Intake::submit(transport::RawFrame& message, const event::FramePeek& peek,
                    const std::function<void(ingest::Pipeline::Ticket)>& admitted) {
  ++heard_;
  heard_at_.store(SteadyClock::now(), std::memory_order_relaxed);
  waits_for_room_ = !services_.pipeline.submit(message, peek, services_.stream, admitted);
  return !waits_for_room_;
}

void Intake::begins_after(std::int64_t position) {
  std::int64_t none = -1;
  began_after_.compare_exchange_strong(none, position);
}

void Intake::restart() {
  restarts_ += 1;
  position_ = 0;
  services_.pipeline.restart(services_.stream);
  // At once: the old cursor has no meaning any more. A run that continued there might receive
  // nothing.
  services_.save_cursor();
}

}  // namespace skua::sources
