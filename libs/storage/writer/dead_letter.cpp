#include "writer/dead_letter.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "atproto/data_model.hpp"
#include "atproto/sha256.hpp"
#include "atproto/syntax.hpp"
#include "base/account_number.hpp"
#include "base/hex.hpp"
#include "event/frame_decoder.hpp"
#include "event/repository_chunks.hpp"
#include "event/resolved_event.hpp"
#include "postgres/locks.hpp"
#include "records/record.hpp"
#include "writer/account_locks.hpp"
#include "writer/effects.hpp"
#include "writer/row_writer.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {

namespace {

using event::ResolvedEvent;

/// The limit is long enough for nearly all keys, and short enough for an index entry.
constexpr std::size_t kLongestKey = 1'000;

/// The key consists of source, position and operation. The same input gets the same key again, so
/// that a replay adds no letter. The key of input without a position contains a hash of its bytes.
std::string dead_letter_key(const std::string& source, std::int64_t seq, const std::string& what,
                            ByteView payload) {
  std::string key = source + " " + std::to_string(seq) + " " + what;
  if (seq == 0) key += " sha256:" + hex_text(atproto::sha256(payload));
  if (key.size() > kLongestKey) {
    const std::string digest = hex_text(atproto::sha256(as_bytes(key)));
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

/// Adds the fields that a replay of a record needs.
void note_record(std::string path, atproto::Tid rev, const std::optional<atproto::Cid>& cid,
                 tables::DeadLetter& letter) {
  letter.path = std::move(path);
  if (rev.fits_int8()) letter.rev = static_cast<std::int64_t>(rev.value);
  if (cid) letter.cid = cid->digest;
}

void note_rejection(const event::Rejection& rejection, tables::DeadLetter& letter) {
  letter.payload = rejection.payload;
  if (atproto::parse_repo_path(rejection.what)) {
    note_record(rejection.what, rejection.rev, rejection.cid, letter);
    if (rejection.operation) letter.operation = operation_name(*rejection.operation);
  } else {
    // The rejection is a label, or a message of which no record is known.
    letter.operation = rejection.what.starts_with(event::kLabelPath) ? "label" : "frame";
  }
}

/// Sets `out` to the change of the letter. Returns an error message, which is empty on success.
std::string decode_letter(const tables::LetterRow& letter, const Bytes& payload,
                          event::UnresolvedEvent& out) {
  out.did = letter.did;
  // The events of a backfill wait for the locks of the account.
  out.source = event::EventSource::Backfill;
  const atproto::Tid rev{static_cast<std::uint64_t>(*letter.rev)};
  if (std::string error = event::read_path(*letter.path, rev, out); !error.empty()) return error;
  auto& change = std::get<event::RecordChange>(out.body);
  change.operation = event::operation_of(*letter.operation).value();
  if (change.operation == event::Operation::Delete) return {};
  atproto::Document scratch;
  return event::read_record({atproto::Cid::kDagCbor, *letter.cid}, payload, scratch, change);
}

/// The limit is far in the future, because a labeler chooses the times of its labels.
constexpr Timestamp kEndOfTime{std::chrono::sys_days(std::chrono::year(9999) / 12 / 31)};

}  // namespace

tables::DeadLetter dead_letter_of(const std::string& source, const ResolvedEvent& event,
                                  const std::string& error, const std::string& sqlstate) {
  tables::DeadLetter letter;
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

void write_dead_letter(postgres::Session& session, const SourceNames& sources,
                       const ResolvedEvent& event, const postgres::SqlError& error, Timestamp now) {
  const auto* rejection = std::get_if<event::Rejection>(&event.event.body);
  const std::string reason = rejection != nullptr ? rejection->error : error.what();
  tables::write_dead_letters(
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

bool has_record(const tables::LetterRow& letter, const Bytes& payload) {
  if (letter.change || !letter.path || !letter.rev || !letter.operation) return false;
  if (!atproto::is_did(letter.did)) return false;
  const std::optional<event::Operation> operation = event::operation_of(*letter.operation);
  if (!operation) return false;
  if (*operation == event::Operation::Delete) return true;
  return letter.cid && !payload.empty() &&
         payload.size() == static_cast<std::size_t>(letter.payload_bytes.value_or(0));
}

ReplayedRecord replay_record(postgres::Session& session, ids::SharedIds& ids, const Clock& clock,
                             AddedLexicons& lexicons, const tables::LetterRow& letter,
                             const Bytes& payload) {
  ReplayedRecord outcome;
  std::array<event::ResolvedEvent, 1> events;
  outcome.error = decode_letter(letter, payload, events[0].event);
  if (!outcome.error.empty()) return outcome;
  try {
    lexicons.check(session, std::array{events.data()});
    ids::Resolver resolver(session, ids, clock);
    const auto conflicts = resolver.resolve(events);
    if (!conflicts.empty()) {
      outcome.error = conflicts.front().reason;
      return outcome;
    }
    const RowWriter writer(SourceNames(letter.source.value_or("")));
    const std::array<const event::ResolvedEvent*, 1> batch = {events.data()};
    outcome.rows = writer.write(session, batch, clock.now()).rows;
  } catch (const postgres::DataError& error) {
    outcome.error = error.what();
    outcome.sqlstate = error.sqlstate();
  }
  return outcome;
}

std::size_t discard_rows(postgres::Session& session, const TableWriter& table,
                         const std::string& did, AccountNumber actor_id) {
  return remove_in_steps(session, did, [&](Effects& effects) {
    // `rows_before` returns only rows with content. `discard` removes all of them, so the loop ends
    // when fewer rows are found than it asked for.
    const std::vector<StoredRow> found = table.rows_before(
        session, actor_id, std::numeric_limits<std::int64_t>::max(), std::nullopt, kRowsOfRemoval);
    std::vector<RecordKey> keys;
    keys.reserve(found.size());
    for (const StoredRow& row : found) keys.push_back(row.key);
    return table.discard(session, keys, std::nullopt, effects);
  });
}

std::size_t discard_account(postgres::Session& session, const std::string& did,
                            AccountNumber actor_id) {
  std::size_t rows = discard_rows(session, records_table(), did, actor_id);
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const TableWriter* table = table_of(id)) {
      rows += discard_rows(session, *table, did, actor_id);
    }
  }
  return rows + remove_in_steps(session, did, [&](Effects& effects) {
           return purge_labels(session, actor_id, kEndOfTime, kRowsOfRemoval, effects);
         });
}

ExpiredCounts discard_expired(postgres::Session& session, const TableWriter* table,
                              const std::string& collection, const ExpiredQuestion& question) {
  std::vector<ExpiredRow> in_table;
  if (table != nullptr) in_table = table->expired_rows(session, question);
  const std::vector<ExpiredRow> in_records = records_table().expired_rows(session, question);
  const auto type = static_cast<std::uint8_t>(records::record_type_of(collection));
  std::vector<postgres::Lock> locks;
  const auto keys_of = [&](const std::vector<ExpiredRow>& rows) {
    std::vector<RecordKey> keys;
    keys.reserve(rows.size());
    for (const ExpiredRow& row : rows) {
      keys.push_back(row.key);
      locks.push_back(postgres::account_lock(session, type, row.did));
    }
    return keys;
  };
  const std::vector<RecordKey> table_keys = keys_of(in_table);
  const std::vector<RecordKey> record_keys = keys_of(in_records);
  if (locks.empty()) return {};
  postgres::lock_xact(session, std::move(locks));
  Effects effects;
  if (!table_keys.empty()) table->discard(session, table_keys, question.before, effects);
  if (!record_keys.empty()) {
    records_table().discard(session, record_keys, question.before, effects);
  }
  effects.finish(session);
  return {.in_table = in_table.size(), .in_records = in_records.size()};
}

}  // namespace skua::writer
