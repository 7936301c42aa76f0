#pragma once

#include "event/tap_message.hpp"
#include "ingest/message_decoder.hpp"

namespace skua::sources {

/// Reads the messages of a Tap. One thread.
class TapReader final : public ingest::MessageReader {
 public:
  Result<ingest::ReadMessage> read(const ingest::AdmittedMessage& message) override;
  void count(ingest::IntakeCounters& intake) override;
  /// Tap gives the same message another number when it sends it again.
  bool has_stable_seq() const override { return false; }

 private:
  event::TapDecoder decoder_;
  event::TapMessage message_;
};

}  // namespace skua::sources
