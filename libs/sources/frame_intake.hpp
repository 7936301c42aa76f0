#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sources/intake.hpp"
#include "transport/endpoint.hpp"

namespace skua::sources {

/// Takes the CBOR frames of a relay or a labeler (atproto.com/specs/event-stream) and watches their
/// sequence numbers:
/// - A relay's first frame after the cursor has a larger number than expected: the relay no longer
///   keeps the frames between them. The gap is logged and counted. The numbers of a labeler have
///   gaps; a labeler sends the message OutdatedCursor instead.
/// - A number below the cursor: the sender was rebuilt and has reset its sequence numbers. Relays
/// do
///   not announce this; a PDS sends the error FutureCursor. Everything that the sender keeps is
///   read again.
/// See Intake for the threads.
class FrameIntake final : public Intake {
 public:
  enum class Sender : std::uint8_t { Relay, Labeler };

  FrameIntake(IntakeServices services, transport::Endpoint endpoint, Sender sender);

  transport::StreamClientOptions stream() override;
  bool try_accept(transport::RawFrame& frame) override;
  void on_connected(std::uint64_t connection) override;

 protected:
  /// A labeler may publish nothing for hours.
  bool may_be_silent() const override { return sender_ == Sender::Labeler; }

 private:
  /// Compares the first numbered frame of a connection with the cursor that was asked for. False:
  /// the numbers were reset, and this connection ends.
  bool check_first(std::int64_t seq);
  void take_error(ByteView frame);
  void take_info(ByteView frame);

  const transport::Endpoint endpoint_;
  const Sender sender_;
  /// `relay` or `labeler`, in the log.
  const std::string kind_;
  const std::string url_;
  bool first_frame_ = true;
  /// The labeler no longer keeps all messages after the cursor.
  bool is_outdated_ = false;
};

}  // namespace skua::sources
