#include "feed/leases/waiting_changes.hpp"

namespace skua::feed {
namespace {

using store::Statement;

const Statement kOpen{
    "waiting_open",
    "UPDATE skua.waiting_changes AS w SET is_open = true, attempts = 0, retry_at = NULL, batch = "
    "NULL, error = NULL, pos = h.next FROM (SELECT v.lane, v.actor_id, v.pos, CASE WHEN d.status = "
    "'requested' THEN v.pos ELSE v.pos + 1 END AS next FROM skua.waiting_changes AS v LEFT JOIN "
    "skua.dead_letter AS d ON d.id = v.letter_id WHERE v.consumer_id = $1::int4 AND NOT v.is_open "
    "AND coalesce(d.status, 'discarded') IN ('requested', 'resolved', 'discarded')) AS h "
    "WHERE w.consumer_id = $1::int4 AND (w.lane, w.actor_id, w.pos) = (h.lane, h.actor_id, h.pos)"};

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

const Statement kKeys{"waiting_keys",
                      "SELECT w.actor_id FROM skua.waiting_changes AS w WHERE w.consumer_id = "
                      "$1::int4 AND w.lane = $2::int4 AND w.until IS NULL ORDER BY w.actor_id"};
const Statement kRead{"waiting_read",
                      "SELECT w.pos, w.until IS NOT NULL, w.letter_id, w.attempts FROM "
                      "skua.waiting_changes AS w WHERE w.consumer_id = $1::int4 AND w.lane = "
                      "$2::int4 AND w.actor_id = $3::int4 ORDER BY w.pos LIMIT 1 FOR UPDATE"};
const Statement kHold{
    "waiting_hold",
    "INSERT INTO skua.waiting_changes (consumer_id, lane, actor_id, pos, letter_id, is_open) "
    "SELECT $1::int4, $2::int4::int2, $3::int4, $4::int8, $5::int8, false WHERE (SELECT count(*) "
    "FROM skua.waiting_changes AS w WHERE w.consumer_id = $1::int4 AND w.lane = $2::int4 AND "
    "w.until IS NULL) < $6::int8"};
const Statement kResolve{
    "waiting_resolve",
    "UPDATE skua.dead_letter SET status = 'resolved', finished_at = clock_timestamp(), note = "
    "'replayed' WHERE id = $1::int8 AND status = 'requested'"};
const Statement kRemove{
    "waiting_remove",
    "DELETE FROM skua.waiting_changes AS w USING skua.consumer_lanes AS l WHERE w.consumer_id = "
    "$1::int4 AND w.lane = $2::int4 AND w.actor_id = $3::int4 AND w.pos = $4::int8 AND "
    "l.consumer_id = $1::int4 AND l.lane = $2::int4 AND $5::int8 >= coalesce(w.until, l.pos)"};
const Statement kMoveWaiting{
    "waiting_move",
    "UPDATE skua.waiting_changes SET pos = $5::int8, served_at = clock_timestamp(), attempts = 0, "
    "retry_at = NULL, error = NULL, batch = CASE WHEN batch < 1000000 THEN batch * 2 END WHERE "
    "consumer_id = $1::int4 AND lane = $2::int4 AND actor_id = $3::int4 AND pos = $4::int8"};
const Statement kClose{
    "waiting_close",
    "UPDATE skua.waiting_changes SET letter_id = $5::int8, is_open = false, "
    "attempts = 0, retry_at = NULL, batch = NULL WHERE consumer_id = $1::int4 AND lane = $2::int4 "
    "AND actor_id = $3::int4 AND pos = $4::int8"};
const Statement kDrop{"waiting_drop",
                      "DELETE FROM skua.waiting_changes WHERE consumer_id = $1::int4 AND lane = "
                      "$2::int4 AND actor_id = $3::int4 AND pos = $4::int8"};
const Statement kNoteLoss{
    "waiting_note_loss",
    "UPDATE skua.dead_letter SET error = left(error, 2000) || format('; the log does not have the "
    "changes of the account from position %s to %s any more', $2::int8, $3::int8 - 1), status = "
    "'dead', finished_at = NULL WHERE id = $1::int8"};

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
  session.execute(kOpen, params);
  session.execute(kRefuseOld, params);
  session.execute(kAddRequested, params);
}

std::vector<std::int32_t> read_waiting_keys(store::Session& session, std::int32_t consumer_id,
                                            std::int32_t lane) {
  store::Params params;
  params.int4(consumer_id).int4(lane);
  const store::Rows rows = session.execute(kKeys, params);
  std::vector<std::int32_t> keys;
  keys.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) keys.push_back(rows.int4(i, 0));
  return keys;
}

WaitingChanges read_waiting_changes(store::Session& session, std::int32_t consumer_id,
                                    std::int32_t lane, std::int32_t key) {
  const store::Rows rows = session.execute(kRead, key_of(consumer_id, lane, key));
  return {rows.int8(0, 0), rows.boolean(0, 1), rows.int8(0, 2), rows.int4(0, 3)};
}

bool hold_changes(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  std::int32_t key, std::int64_t pos, std::int64_t letter_id) {
  store::Params params = row_of(consumer_id, lane, key, pos);
  params.int8(letter_id).int8(kMostWaitingKeys);
  return session.execute(kHold, params).affected() > 0;
}

void advance_waiting(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                     std::int32_t key, const WaitingChanges& waiting, std::int64_t next) {
  if (next > waiting.pos) {
    store::Params letter;
    letter.int8(waiting.letter_id);
    session.execute(kResolve, letter);
  }
  store::Params params = row_of(consumer_id, lane, key, waiting.pos);
  params.int8(next);
  if (session.execute(kRemove, params).affected() == 0) session.execute(kMoveWaiting, params);
}

void close_waiting(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                   std::int32_t key, const WaitingChanges& waiting, std::int64_t letter_id) {
  if (waiting.is_single) {
    session.execute(kDrop, row_of(consumer_id, lane, key, waiting.pos));
    return;
  }
  store::Params params = row_of(consumer_id, lane, key, waiting.pos);
  params.int8(letter_id);
  session.execute(kClose, params);
}

void lose_waiting(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  std::int32_t key, const WaitingChanges& waiting, std::int64_t oldest) {
  store::Params letter;
  letter.int8(waiting.letter_id).int8(waiting.pos).int8(oldest);
  session.execute(kNoteLoss, letter);
  if (waiting.is_single) {
    session.execute(kDrop, row_of(consumer_id, lane, key, waiting.pos));
    return;
  }
  store::Params params = row_of(consumer_id, lane, key, waiting.pos);
  params.int8(oldest);
  session.execute(kMoveWaiting, params);
}

}  // namespace skua::feed
