#include "feed/leases/waiting_changes.hpp"

#include "feed/leases/waiting_changes.sql.hpp"
namespace skua::feed {
namespace {

using store::Statement;

constexpr const char* kRequested =
    "FROM skua.dead_letter AS d JOIN skua.consumers AS c ON c.name = d.consumer CROSS JOIN "
    "skua.change_log_state AS s WHERE c.id = $1::int4 AND d.status = 'requested' AND d.pos IS NOT "
    "NULL AND NOT EXISTS (SELECT FROM skua.waiting_changes AS w WHERE w.consumer_id = c.id AND "
    "w.letter_id = d.id) ";
const Statement kRefuseOld{
    "waiting_refuse_old",
    std::string("UPDATE skua.dead_letter AS t SET status = 'dead', attempts = t.attempts + 1, "
                "last_at = clock_timestamp(), error = 'the log does not have the change any more' "
                "WHERE t.id IN (SELECT d.id ") +
        kRequested +
        "AND (d.timeline <> s.timeline OR NOT EXISTS (SELECT FROM skua.change_log AS b WHERE "
        "b.pos <= d.pos)))"};
const Statement kAddRequested{
    "waiting_add_requested",
    std::string("INSERT INTO skua.waiting_changes (pos, until, letter_id, consumer_id, actor_id, "
                "lane, is_open) SELECT d.pos, d.pos + 1, d.id, c.id, d.actor_id, d.actor_id & "
                "(c.lanes - 1), true ") +
        kRequested + "ORDER BY d.pos LIMIT 1000 ON CONFLICT DO NOTHING"};

store::Params key_of(std::int32_t consumer_id, std::int32_t lane, std::int32_t key) {
  store::Params params;
  params.int4(consumer_id).int4(lane).int4(key);
  return params;
}

store::Params row_of(std::int32_t consumer_id, std::int32_t lane, std::int32_t key,
                     std::int64_t pos) {
  store::Params params = key_of(consumer_id, lane, key);
  params.int8(pos);
  return params;
}

}  // namespace

void open_waiting_changes(store::Session& session, std::int32_t consumer_id) {
  store::Params params;
  params.int4(consumer_id);
  session.execute(sql::waiting_open, params);
  session.execute(kRefuseOld, params);
  session.execute(kAddRequested, params);
}

std::vector<std::int32_t> read_waiting_keys(store::Session& session, std::int32_t consumer_id,
                                            std::int32_t lane) {
  store::Params params;
  params.int4(consumer_id).int4(lane);
  const store::Rows rows = session.execute(sql::waiting_keys, params);
  std::vector<std::int32_t> keys;
  keys.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) keys.push_back(rows.int4(i, 0));
  return keys;
}

WaitingChanges read_waiting_changes(store::Session& session, std::int32_t consumer_id,
                                    std::int32_t lane, std::int32_t key) {
  const store::Rows rows = session.execute(sql::waiting_read, key_of(consumer_id, lane, key));
  return {rows.int8(0, 0), rows.boolean(0, 1), rows.int8(0, 2), rows.int4(0, 3)};
}

bool hold_changes(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  std::int32_t key, std::int64_t pos, std::int64_t letter_id) {
  store::Params params = row_of(consumer_id, lane, key, pos);
  params.int8(letter_id).int8(kMostWaitingKeys);
  return session.execute(sql::waiting_hold, params).affected() > 0;
}

void advance_waiting(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                     std::int32_t key, const WaitingChanges& waiting, std::int64_t next) {
  if (next > waiting.pos) {
    store::Params letter;
    letter.int8(waiting.letter_id);
    session.execute(sql::waiting_resolve, letter);
  }
  store::Params params = row_of(consumer_id, lane, key, waiting.pos);
  params.int8(next);
  if (session.execute(sql::waiting_remove, params).affected() == 0) session.execute(sql::waiting_move, params);
}

void close_waiting(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                   std::int32_t key, const WaitingChanges& waiting, std::int64_t letter_id) {
  if (waiting.is_single) {
    session.execute(sql::waiting_drop, row_of(consumer_id, lane, key, waiting.pos));
    return;
  }
  store::Params params = row_of(consumer_id, lane, key, waiting.pos);
  params.int8(letter_id);
  session.execute(sql::waiting_close, params);
}

void lose_waiting(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  std::int32_t key, const WaitingChanges& waiting, std::int64_t oldest) {
  store::Params letter;
  letter.int8(waiting.letter_id).int8(waiting.pos).int8(oldest);
  session.execute(sql::waiting_note_loss, letter);
  if (waiting.is_single) {
    session.execute(sql::waiting_drop, row_of(consumer_id, lane, key, waiting.pos));
    return;
  }
  store::Params params = row_of(consumer_id, lane, key, waiting.pos);
  params.int8(oldest);
  session.execute(sql::waiting_move, params);
}

}  // namespace skua::feed
