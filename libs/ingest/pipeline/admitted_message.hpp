#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "pipeline/in_flight.hpp"

namespace skua::pipeline {

/// A message of a source that has a place in the in-flight list, and the fields that the intake has
/// read from it. It is moved, never copied: the views of FramePeek point into its bytes, which keep
/// their address. `seq` is 0 if there is no sequence number. `did` is empty if the message names no
/// account, or cannot be read.
struct AdmittedMessage : event::FramePeek {
  AdmittedMessage() = default;
  AdmittedMessage(AdmittedMessage&&) noexcept = default;
  AdmittedMessage& operator=(AdmittedMessage&&) noexcept = default;
  AdmittedMessage(const AdmittedMessage&) = delete;
  AdmittedMessage& operator=(const AdmittedMessage&) = delete;

  Bytes bytes;
  InFlightList::Ticket ticket = 0;
  Timestamp received_at;
  /// The reason why the message cannot be read (see transport::RawFrame). Such a message becomes a
  /// dead letter.
  ErrorCode defect{};
};

}  // namespace skua::pipeline
