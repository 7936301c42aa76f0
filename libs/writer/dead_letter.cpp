#include "writer/dead_letter.hpp"

#include <cstdint>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "atproto/sha256.hpp"

namespace skua::writer {
namespace {

using event::ResolvedEvent;

/// Long enough for nearly all, short enough for an index entry.
constexpr std::size_t kLongestKey = 1'000;

std::string hex_digest(ByteView bytes) {
  std::string text;
  for (const std::uint8_t byte : atproto::sha256(bytes)) text += fmt::format("{:02x}", byte);
  return text;
}

/// Source, position and op. The same input gets the same key again, so that a replay adds no
/// letter; input without a position is told apart by its bytes.
std::string dead_letter_key(const std::string& source, std::int64_t seq, const std::string& what,
                            ByteView payload) {
  std::string key = source + " " + std::to_string(seq) + " " + what;
  if (seq == 0) key += " sha256:" + hex_digest(payload);
  if (key.size() > kLongestKey) {
    const std::string digest = hex_digest(as_bytes(key));
    key.resize(kLongestKey - digest.size() - 8);
    key += " sha256:" + digest;
  }
  return key;
}

}  // namespace

store::DeadLetter dead_letter_of(const std::string& source, const ResolvedEvent& event,
                                 const std::string& error, const std::string& sqlstate) {
  store::DeadLetter letter;
  letter.consumer = "indexer";
  letter.did = event.event.did;
  std::string what = event.event.at_uri();
  if (const auto* rejection = std::get_if<event::Rejection>(&event.event.body)) {
    what = event.event.did + "/" + rejection->what;
    letter.payload = rejection->payload;
  } else if (const auto* change = std::get_if<event::RecordChange>(&event.event.body)) {
    letter.payload = change->block;
  } else if (const auto* label = std::get_if<event::LabelChange>(&event.event.body)) {
    what = event.event.did + "/" + event::label_path(label->place);
    letter.payload = label->block;
  }
  letter.key = dead_letter_key(source, event.event.seq, what, letter.payload);
  letter.error = error;
  letter.sqlstate = sqlstate;
  return letter;
}

void write_dead_letter(store::Session& session, const SourceNames& sources,
                       const ResolvedEvent& event, const store::SqlError& error, Timestamp now) {
  const auto* rejection = std::get_if<event::Rejection>(&event.event.body);
  const std::string reason = rejection != nullptr ? rejection->error : error.what();
  store::write_dead_letters(
      session, {dead_letter_of(sources.of(event), event, reason, error.sqlstate())}, now);
}

void reject(event::ResolvedEvent& event, const std::string& reason) {
  event::Rejection rejection;
  rejection.error = reason;
  if (auto* label = std::get_if<event::LabelChange>(&event.event.body)) {
    rejection.what = event::label_path(label->place);
    rejection.payload = std::move(label->block);
  } else {
    event::RecordChange& change = event.change();
    rejection.what = change.collection + "/" + change.rkey;
    rejection.payload = std::move(change.block);
  }
  event.event.body = std::move(rejection);
}

}  // namespace skua::writer
