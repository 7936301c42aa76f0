#include "writer/record_letter.hpp"

#include <array>
#include <optional>
#include <utility>

#include "atproto/data_model.hpp"
#include "atproto/syntax.hpp"
#include "event/op_decoder.hpp"
#include "event/record_decoder.hpp"
#include "event/resolved_event.hpp"
#include "writer/live_writer.hpp"

namespace skua::writer {
namespace {

/// Fills `out` with the change of the letter; returns an error message, empty on success.
std::string decode_letter(const store::LetterRow& letter, const Bytes& payload,
                          event::UnresolvedEvent& out) {
  out.did = letter.did;
  // Waits for the account's locks.
  out.source = event::EventSource::Backfill;
  const atproto::Tid rev{static_cast<std::uint64_t>(*letter.rev)};
  if (std::string error = event::read_path(*letter.path, rev, out); !error.empty()) return error;
  auto& change = std::get<event::RecordChange>(out.body);
  change.operation = event::operation_of(*letter.operation).value();
  if (change.operation == event::Operation::Delete) return {};
  atproto::Document scratch;
  return event::read_record({atproto::Cid::kDagCbor, *letter.cid}, payload, scratch, change);
}

}  // namespace

bool has_record(const store::LetterRow& letter, const Bytes& payload) {
  if (letter.change || !letter.path || !letter.rev || !letter.operation) return false;
  if (!atproto::is_did(letter.did)) return false;
  const std::optional<event::Operation> operation = event::operation_of(*letter.operation);
  if (!operation) return false;
  if (*operation == event::Operation::Delete) return true;
  return letter.cid && !payload.empty() &&
         payload.size() == static_cast<std::size_t>(letter.payload_bytes.value_or(0));
}

ReplayedRecord replay_record(store::Session& session, resolve::SharedIds& ids, const Clock& clock,
                             AddedLexicons& lexicons, const store::LetterRow& letter,
                             const Bytes& payload) {
  ReplayedRecord outcome;
  std::array<event::ResolvedEvent, 1> events;
  outcome.error = decode_letter(letter, payload, events[0].event);
  if (!outcome.error.empty()) return outcome;
  try {
    lexicons.check(session, std::array{events.data()});
    resolve::Resolver resolver(session, ids, clock);
    const auto conflicts = resolver.resolve(events);
    if (!conflicts.empty()) {
      outcome.error = conflicts.front().reason;
      return outcome;
    }
    const LiveWriter writer(SourceNames(letter.source.value_or("")));
    const std::array<const event::ResolvedEvent*, 1> batch = {events.data()};
    outcome.rows = writer.write(session, batch, clock.now()).rows;
  } catch (const store::DataError& error) {
    outcome.error = error.what();
    outcome.sqlstate = error.sqlstate();
  }
  return outcome;
}

}  // namespace skua::writer
