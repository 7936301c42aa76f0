#include "sources/jetstream/jetstream_reader.hpp"

#include "base/bytes.hpp"
#include "base/log.hpp"

namespace skua::sources {

Result<ingest::ReadMessage> JetstreamReader::read(const ingest::AdmittedMessage& message) {
  const auto decoded = decoder_.decode(as_text(message.bytes), message_);
  if (!decoded) return decoded.error();
  ingest::ReadMessage read{
      .events = &message_.events, .stated_at = message_.time, .made_at = message_.time};
  if (message_.lacks_record) read.gap = "a record is missing from its message";
  // Creates may follow, but no deletes.
  if (message_.kind == event::JetstreamKind::Sync) read.gap = "its repository was replaced";
  return read;
}

void JetstreamReader::count(ingest::IntakeCounters& intake) {
  switch (message_.kind) {
    case event::JetstreamKind::Commit:
      intake.commits += 1;
      intake.ops += 1;
      if (!message_.cid_matches) intake.altered += 1;
      break;
    case event::JetstreamKind::Identity:
      intake.identities += 1;
      break;
    case event::JetstreamKind::Account:
      intake.accounts += 1;
      break;
    case event::JetstreamKind::Sync:
      intake.syncs += 1;
      break;
    case event::JetstreamKind::Info:
      intake.infos += 1;
      logger("intake")->info("{}: {}", message_.name, message_.message);
      break;
    case event::JetstreamKind::Error:
      intake.errors += 1;
      break;
    case event::JetstreamKind::Unknown:
      intake.unknown += 1;
      break;
  }
}

}  // namespace skua::sources
