#include "writer/dead_letter.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "atproto/sha256.hpp"
#include "atproto/syntax.hpp"

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

std::string operation_name(event::Operation operation) {
  switch (operation) {
    case event::Operation::Create:
      return "create";
    case event::Operation::Update:
      return "update";
    case event::Operation::Delete:
      return "delete";
  }
  return {};
}

/// What a replay of a record needs.
void note_record(std::string path, atproto::Tid rev, const std::optional<atproto::Cid>& cid,
                 store::DeadLetter& letter) {
  letter.path = std::move(path);
  if (rev.fits_int8()) letter.rev = static_cast<std::int64_t>(rev.value);
  if (cid) letter.cid = cid->digest;
}

void note_rejection(const event::Rejection& rejection, store::DeadLetter& letter) {
  letter.payload = rejection.payload;
  if (atproto::parse_repo_path(rejection.what)) {
    note_record(rejection.what, rejection.rev, rejection.cid, letter);
    if (rejection.operation) letter.operation = operation_name(*rejection.operation);
  } else {
    // A label, or a message of which no record is known.
    letter.operation = rejection.what.starts_with(event::kLabelPath) ? "label" : "frame";
  }
}

}  // namespace

store::DeadLetter dead_letter_of(const std::string& source, const ResolvedEvent& event,
                                 const std::string& error, const std::string& sqlstate) {
  store::DeadLetter letter;
  letter.consumer = "indexer";
  letter.source = source;
  letter.did = event.event.did;
  std::string what = event.event.at_uri();
  if (const auto* rejection = std::get_if<event::Rejection>(&event.event.body)) {
    what = event.event.did + "/" + rejection->what;
    note_rejection(*rejection, letter);
  } else if (const auto* change = std::get_if<event::RecordChange>(&event.event.body)) {
    letter.payload = change->block;
    note_record(change->collection + "/" + change->rkey, change->rev, change->cid, letter);
    letter.operation = operation_name(change->operation);
  } else if (const auto* label = std::get_if<event::LabelChange>(&event.event.body)) {
    what = event.event.did + "/" + event::label_path(label->place);
    letter.payload = label->block;
    letter.operation = "label";
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
    rejection.operation = change.operation;
    rejection.rev = change.rev;
    rejection.cid = change.cid;
    rejection.payload = std::move(change.block);
  }
  event.event.body = std::move(rejection);
}

}  // namespace skua::writer
