#include "sources/tap/tap_reader.hpp"

#include <variant>

#include "base/bytes.hpp"

namespace skua::sources {

Result<ingest::ReadMessage> TapReader::read(const ingest::AdmittedMessage& message) {
  const auto decoded = decoder_.decode(as_text(message.bytes), message.received_at, message_);
  if (!decoded) return decoded.error();
  // Tap does not say when a message was made.
  ingest::ReadMessage read{.events = &message_.events};
  // Skua may be able to decode it.
  if (message_.lacks_record) read.gap = "a record is missing from its message";
  for (event::UnresolvedEvent& event : message_.events) {
    if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
      // Tombstones are kept until the cursor has passed it.
      event.seq = message.seq;
      if (event.source == event::EventSource::Live) read.made_at = change->rev.time();
    }
  }
  return read;
}

void TapReader::count(ingest::IntakeCounters& intake) {
  switch (message_.type) {
    case event::TapType::Record:
      intake.commits += 1;
      intake.ops += 1;
      if (!message_.cid_matches) intake.altered += 1;
      break;
    case event::TapType::Identity:
      intake.identities += 1;
      intake.accounts += 1;
      break;
    case event::TapType::Unknown:
      intake.unknown += 1;
      break;
  }
}

}  // namespace skua::sources
