#include "sources/intake.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/problem.hpp"
#include "event/frame_decoder.hpp"
#include "transport/stream_client.hpp"

namespace skua::sources {

namespace {

const char* kind_of(FrameIntake::Sender sender) {
  return sender == FrameIntake::Sender::Labeler ? "labeler" : "relay";
}

const char* advice(FrameIntake::Sender sender) {
  if (sender == FrameIntake::Sender::Labeler) {
    return "is the address right, and does this machine reach it (curl -I https://HOST)? a "
           "labeler's stands in its DID document, as the service #atproto_labeler";
  }
  return "is the address right, and does this machine reach it (curl -I https://HOST)? another "
         "relay can be named with --relay or SKUA_RELAY";
}

}  // namespace

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

pipeline::SourceState Intake::state() const {
  const ConnectionLog::State connection = connection_.state();
  pipeline::SourceState state;
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
                    const std::function<void(pipeline::Pipeline::Ticket)>& admitted) {
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
  // The cursor is saved at once, because the old cursor has no meaning any more. A run that
  // continued at the old cursor might receive nothing.
  services_.save_cursor();
}

FrameIntake::FrameIntake(IntakeServices services, transport::Endpoint endpoint, Sender sender)
    : Intake(std::move(services), kind_of(sender), endpoint.url(), advice(sender)),
      endpoint_(std::move(endpoint)),
      sender_(sender),
      kind_(kind_of(sender)),
      url_(endpoint_.url()) {}

transport::StreamClientOptions FrameIntake::stream() {
  auto options = transport::relay_stream(endpoint_, [this] { return position(); });
  if (sender_ == Sender::Labeler) {
    options.peer = "the labeler";
    options.may_be_silent = true;
  }
  return options;
}

bool FrameIntake::try_accept(transport::RawFrame& frame) {
  // `peek` has no type, number and account if the frame cannot be read.
  event::FramePeek peek;
  if (const auto peeked = event::peek_frame(frame.bytes)) peek = *peeked;
  const bool is_whole = !frame.defect;
  if (is_whole && peek.type == event::MessageType::Error) {
    take_error(frame.bytes);
    return true;
  }
  if (is_whole && peek.type == event::MessageType::Info) take_info(frame.bytes);
  const std::int64_t seq = peek.seq;
  if (seq != 0 && first_frame_) {
    // This frame is not taken, because the next connection sends it again, after the frames before
    // it.
    if (!check_first(seq)) return true;
    first_frame_ = false;
  }
  if (!submit(frame, peek)) return false;
  if (seq != 0) begins_after(seq - 1);
  // A lower number within a connection is a mistake of the relay. If the position went back, the
  // next connection would repeat all frames from there.
  if (seq != 0 && (!position_ || seq > *position_)) position_ = seq;
  return true;
}

bool FrameIntake::check_first(std::int64_t seq) {
  if (!position_) return true;
  const std::int64_t cursor = *position_;
  if (seq < cursor) {
    warn(fmt::format("{}: sequence reset: it sent seq {} after cursor {}; {}", url_, seq, cursor,
                     with_code("reading everything that it keeps", problem("sequence-reset"))));
    end_ = "its sequence numbers were reset";
    restart();
    return false;
  }
  const bool has_gap = sender_ == Sender::Relay || is_outdated_;
  if (seq > cursor + 1 && cursor > 0 && has_gap) {
    skipped_ += static_cast<std::uint64_t>(seq - cursor - 1);
    warn(fmt::format(
        "{} continued at seq {}, {} after the cursor: the events between them are missing{}", url_,
        seq, seq - cursor, sender_ == Sender::Relay ? "; a backfill adds them" : ""));
  }
  return true;
}

void FrameIntake::take_error(ByteView frame) {
  services_.pipeline.count_error_frame();
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  if (decoder.decode(frame, decoded).has_error()) {
    end_ = "the " + kind_ + " sent an error without a message";
    return;
  }
  end_ = "the " + kind_ + " sent the error " + decoded.name;
  if (!decoded.message.empty()) *end_ += ": " + decoded.message;
  if (decoded.name == "FutureCursor") {
    *end_ +=
        " (it was rebuilt, and its sequence numbers were reset: reading everything that it keeps)";
    restart();
  }
}

void FrameIntake::take_info(ByteView frame) {
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  if (decoder.decode(frame, decoded).has_error() || decoded.name != "OutdatedCursor") return;
  is_outdated_ = true;
  cursor_outdated();
  warn(fmt::format("{} {}", url_,
                   with_code("no longer keeps the events after the cursor and continues at the "
                             "oldest one that it keeps",
                             problem("cursor-outdated"))));
}

void FrameIntake::on_connected(std::uint64_t connection) {
  first_frame_ = true;
  is_outdated_ = false;
  Intake::on_connected(connection);
  if (services_.is_discovered) return;
  if (position_ && *position_ == 0) {
    logger(kind_)->info("connected to {}, from the oldest frame that it keeps", url_);
  } else if (position_) {
    logger(kind_)->info("connected to {}, continuing after seq {}", url_, *position_);
  } else {
    logger(kind_)->info("connected to {}, live from now on", url_);
  }
}

}  // namespace skua::sources
