#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ingest/pipeline.hpp"
#include "sources/connection_log.hpp"
#include "sources/intake.hpp"
#include "transport/endpoint.hpp"

namespace skua::sources {

/// Takes a relay's or a labeler's frames into the pipeline and watches its sequence numbers: a gap
/// at the beginning of a connection (the relay no longer keeps what the cursor asks for), and
/// numbers that begin anew, because the relay was rebuilt; then all that it has is read again, from
/// its oldest frame. Relays announce neither, but for a PDS's FutureCursor. A labeler's numbers are
/// not without gaps; it says OutdatedCursor when it no longer keeps what is asked for. Lives on the
/// relay client's thread; the figures may be read from any.
class FrameIntake final : public Intake {
 public:
  enum class Sender : std::uint8_t { Relay, Labeler };

  /// `start` is the cursor of the first connection; nothing: live.
  /// `on_restart` is called when the numbers began anew, and the watermark with them.
  /// `stream`: which of the pipeline's sources it is.
  FrameIntake(ingest::Pipeline& pipeline, transport::Endpoint endpoint,
              std::optional<std::int64_t> start, std::function<void()> on_restart,
              std::size_t stream = 0, Sender sender = Sender::Relay);

  /// While there is no client: where the next one begins.
  void begin_at(std::optional<std::int64_t> position);
  /// There is no client any more.
  void ended() { words_.ended(); }

  transport::StreamClientOptions stream() override;

  bool try_accept(transport::RawFrame& frame) override;
  /// After an error frame: its words. After numbers that begin anew: that.
  std::optional<std::string> wants_end() override { return std::exchange(end_, std::nullopt); }
  void when_room(std::function<void()> wake) override { pipeline_.when_room(std::move(wake)); }
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

  /// Where the next connection is to continue: after the last frame that was taken. What is in
  /// flight need not be asked for again; a crash asks for the saved cursor instead. The client's
  /// thread.
  std::optional<std::int64_t> position() const { return position_; }

  bool connected() const override { return words_.connected(); }
  /// Frames that were there to be taken, also those for which there was no room.
  std::uint64_t heard() const { return heard_; }
  /// It is not that the relay is silent: there is no room for what it says.
  bool waits_for_room() const { return waits_for_room_; }
  std::uint64_t restarts() const override { return restarts_; }
  std::uint64_t skipped() const override { return skipped_; }

 private:
  /// Compares a connection's first numbered frame with the cursor asked for. False: the numbers
  /// began anew, and this connection is of no use.
  bool check_first(std::int64_t seq);
  /// The next connection begins with the oldest frame that the relay has.
  void begin_anew();
  void take_error(ByteView frame);
  /// Of a labeler.
  void look_at_info(ByteView frame);

  ingest::Pipeline& pipeline_;
  const transport::Endpoint endpoint_;
  const Sender sender_;
  /// `relay` or `labeler`, in the log.
  const std::string kind_;
  const std::string url_;
  ConnectionLog words_;
  const std::function<void()> on_restart_;
  const std::size_t stream_;
  std::optional<std::int64_t> position_;
  bool first_frame_ = true;
  /// The sender said that it no longer keeps all that was asked for.
  bool is_outdated_ = false;
  std::optional<std::string> end_;
  std::atomic<std::uint64_t> heard_{0};
  std::atomic<bool> waits_for_room_{false};
  std::atomic<std::uint64_t> restarts_{0};
  std::atomic<std::uint64_t> skipped_{0};
};

}  // namespace skua::sources
