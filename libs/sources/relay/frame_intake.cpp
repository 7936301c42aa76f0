#include "sources/relay/frame_intake.hpp"

#include "base/log.hpp"
#include "transport/relay_stream.hpp"

namespace skua::sources {
namespace {

const char* advice(FrameIntake::Sender sender) {
  if (sender == FrameIntake::Sender::Labeler) {
    return "is the address right, and does this machine reach it (curl -I https://HOST)? a "
           "labeler's stands in its DID document, as the service #atproto_labeler";
  }
  return "is the address right, and does this machine reach it (curl -I https://HOST)? another "
         "relay can be named with --relay or SKUA_RELAY";
}

}  // namespace

FrameIntake::FrameIntake(ingest::Pipeline& pipeline, transport::Endpoint endpoint,
                         std::optional<std::int64_t> start, std::function<void()> on_restart,
                         std::size_t stream, Sender sender)
    : pipeline_(pipeline),
      endpoint_(std::move(endpoint)),
      sender_(sender),
      kind_(sender == Sender::Labeler ? "labeler" : "relay"),
      url_(endpoint_.url()),
      words_(kind_, url_, advice(sender)),
      on_restart_(std::move(on_restart)),
      stream_(stream),
      position_(start) {
  if (start) begins_after(*start);
}

void FrameIntake::begin_at(std::optional<std::int64_t> position) {
  position_ = position;
  end_.reset();
  waits_for_room_ = false;
}

transport::StreamClientOptions FrameIntake::stream() {
  auto options = transport::relay_stream(endpoint_, [this] { return position(); });
  if (sender_ == Sender::Labeler) {
    options.peer = "the labeler";
    // Nobody is labelled for hours.
    options.may_be_silent = true;
  }
  return options;
}

bool FrameIntake::try_accept(transport::RawFrame& frame) {
  ++heard_;
  std::optional<event::FramePeek> peek;
  if (const auto peeked = event::peek_frame(frame.bytes); peeked.has_value()) peek = *peeked;
  if (peek && peek->type == event::MessageType::Error) {
    take_error(frame.bytes);
    return true;
  }
  if (peek && peek->type == event::MessageType::Info && sender_ == Sender::Labeler) {
    look_at_info(frame.bytes);
  }
  const std::int64_t seq = peek ? peek->seq : 0;
  if (seq != 0 && first_frame_) {
    // It comes again: what stood before it is wanted first.
    if (!check_first(seq)) return true;
    first_frame_ = false;
  }
  ingest::Route route = ingest::route_of(peek);
  route.stream = stream_;
  waits_for_room_ = !pipeline_.submit(frame, route);
  if (waits_for_room_) return false;
  if (seq != 0) begins_after(seq - 1);
  // A number from before, within a connection, is a relay's slip: going back would repeat all.
  if (seq != 0 && (!position_ || seq > *position_)) position_ = seq;
  return true;
}

bool FrameIntake::check_first(std::int64_t seq) {
  if (!position_) return true;
  const std::int64_t cursor = *position_;
  if (seq < cursor) {
    logger(kind_)->warn(
        "{}: sequence reset: it sent seq {} after cursor {}; reading everything that it keeps",
        url_, seq, cursor);
    end_ = "its sequence numbers were reset";
    begin_anew();
    return false;
  }
  const bool has_gap = sender_ == Sender::Relay || is_outdated_;
  if (seq > cursor + 1 && cursor > 0 && has_gap) {
    skipped_ += static_cast<std::uint64_t>(seq - cursor - 1);
    logger(kind_)->warn(
        "{} continued at seq {}, {} after the cursor: the events between them are missing{}", url_,
        seq, seq - cursor, sender_ == Sender::Relay ? "; a backfill adds them" : "");
  }
  return true;
}

void FrameIntake::begin_anew() {
  restarts_ += 1;
  position_ = 0;
  pipeline_.restart(stream_);
  // At once: the old cursor says nothing any more, and who came back with it might hear nothing.
  on_restart_();
}

void FrameIntake::take_error(ByteView frame) {
  pipeline_.count_error_frame();
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  if (decoder.decode(frame, decoded).has_error()) {
    end_ = "the " + kind_ + " sent an error without words";
    return;
  }
  end_ = "the " + kind_ + " sent the error " + decoded.name;
  if (!decoded.message.empty()) *end_ += ": " + decoded.message;
  if (decoded.name == "FutureCursor") {
    *end_ +=
        " (it was rebuilt, and its sequence numbers were reset: reading everything that it keeps)";
    begin_anew();
  }
}

void FrameIntake::look_at_info(ByteView frame) {
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  if (decoder.decode(frame, decoded).has_error() || decoded.name != "OutdatedCursor") return;
  is_outdated_ = true;
}

void FrameIntake::on_connected(std::uint64_t /*connection*/) {
  first_frame_ = true;
  is_outdated_ = false;
  words_.on_connected();
  if (position_ && *position_ == 0) {
    logger(kind_)->info("connected to {}, from the oldest frame that it keeps", url_);
  } else if (position_) {
    logger(kind_)->info("connected to {}, continuing after seq {}", url_, *position_);
  } else {
    logger(kind_)->info("connected to {}, live from now on", url_);
  }
}

void FrameIntake::on_disconnected(const transport::Disconnection& end) {
  waits_for_room_ = false;
  words_.on_disconnected(end);
}

}  // namespace skua::sources
