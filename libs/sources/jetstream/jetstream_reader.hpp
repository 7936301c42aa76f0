#pragma once

#include "event/jetstream_message.hpp"
#include "ingest/message_decoder.hpp"

namespace skua::sources {

/// Reads the messages of a Jetstream, of both versions. One thread.
class JetstreamReader final : public ingest::MessageReader {
 public:
  Result<ingest::ReadMessage> read(const ingest::AdmittedMessage& message) override;
  void count(ingest::IntakeCounters& intake) override;

 private:
  event::JetstreamDecoder decoder_;
  event::JetstreamMessage message_;
};

}  // namespace skua::sources
