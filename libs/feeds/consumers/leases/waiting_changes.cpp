#include "consumers/leases/waiting_changes.hpp"

#include "base/bytes.hpp"
#include "consumers/leases/waiting_changes.sql.hpp"

namespace skua::consumers {

namespace {

/// A row of waiting_letter_change.
struct LetterChangeRow {
  std::int32_t timeline;
  Bytes payload;
};

}  // namespace

void open_waiting_changes(postgres::Session& session, std::int32_t consumer_id) {
  session.execute(sql::waiting_open, consumer_id);
  session.execute(sql::waiting_refuse_old, consumer_id);
  session.execute(sql::waiting_add_requested, consumer_id);
}

std::vector<AccountNumber> read_waiting_keys(postgres::Session& session, std::int32_t consumer_id,
                                             std::int32_t lane) {
  return session.query<AccountNumber>(sql::waiting_keys, consumer_id, lane);
}

WaitingChanges read_waiting_changes(postgres::Session& session, std::int32_t consumer_id,
                                    std::int32_t lane, AccountNumber key) {
  return session.query_one<WaitingChanges>(sql::waiting_read, consumer_id, lane, key);
}

std::optional<LetterChange> read_letter_change(postgres::Session& session, std::int32_t consumer_id,
                                               std::int32_t lane, AccountNumber key,
                                               std::int64_t pos) {
  const auto row =
      session.query_first<LetterChangeRow>(sql::waiting_letter_change, consumer_id, lane, key, pos);
  if (!row) return std::nullopt;
  return LetterChange{row->timeline, std::string(as_text(row->payload))};
}

bool hold_changes(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  AccountNumber key, std::int64_t pos, std::int64_t letter_id) {
  return session
             .execute(sql::waiting_hold, consumer_id, lane, key, pos, letter_id, kMostWaitingKeys)
             .affected() > 0;
}

void advance_waiting(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                     AccountNumber key, const WaitingChanges& waiting, std::int64_t next) {
  if (next > waiting.pos) session.execute(sql::waiting_resolve, waiting.letter_id);
  const postgres::Rows removed =
      session.execute(sql::waiting_remove, consumer_id, lane, key, waiting.pos, next);
  if (removed.affected() > 0) return;
  session.execute(sql::waiting_move, consumer_id, lane, key, waiting.pos, next);
}

void close_waiting(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                   AccountNumber key, const WaitingChanges& waiting, std::int64_t letter_id) {
  if (waiting.is_single) {
    session.execute(sql::waiting_drop, consumer_id, lane, key, waiting.pos);
  } else {
    session.execute(sql::waiting_close, consumer_id, lane, key, waiting.pos, letter_id);
  }
}

void lose_waiting(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  AccountNumber key, const WaitingChanges& waiting, std::int64_t oldest) {
  session.execute(sql::waiting_note_loss, waiting.letter_id, waiting.pos, oldest);
  if (waiting.is_single) {
    session.execute(sql::waiting_drop, consumer_id, lane, key, waiting.pos);
  } else {
    session.execute(sql::waiting_move, consumer_id, lane, key, waiting.pos, oldest);
  }
}

}  // namespace skua::consumers
