#include "store/consumer_letters.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "atproto/base64.hpp"
#include "base/utf8.hpp"

namespace skua::store {
namespace {

const Statement kWriteOne{
    "consumer_letters_write",
    "WITH given AS (SELECT coalesce((SELECT a.did FROM bsky.actors AS a WHERE a.id = $7::int4), '')"
    " AS did, EXISTS (SELECT FROM skua.dead_letter AS d WHERE d.consumer = $1 AND d.key = $2)"
    " AS is_known), "
    "fitting AS (SELECT g.did FROM given AS g WHERE g.is_known "
    "OR (pg_total_relation_size('skua.dead_letter') < $16::int8 / 2 "
    "AND (SELECT count(*) < $15::int8 AND coalesce(sum(coalesce(octet_length(p.payload), 0) + "
    "octet_length(p.error)), 0) + coalesce(octet_length($10::bytea), 0) + octet_length($12) <= "
    "$17::int8 FROM (SELECT d.payload, d.error FROM skua.dead_letter AS d WHERE d.did = g.did AND "
    "d.consumer = $1 AND d.finished_at IS NULL LIMIT $15::int8) AS p))) "
    "INSERT INTO skua.dead_letter AS t (consumer, key, lane, timeline, pos, operation, actor_id, "
    "collection_id, rkey, payload, payload_bytes, error, sqlstate, did, created_at, last_at) "
    "SELECT $1, $2, $3::int4, $4::int4, $5::int8, $6, $7::int4, $8::int4, $9::int8, $10::bytea, "
    "$11::int4, $12, $13, f.did, $14::timestamptz, $14::timestamptz FROM fitting AS f "
    "ON CONFLICT (consumer, key) DO UPDATE SET attempts = t.attempts + 1, status = 'dead', "
    "lane = EXCLUDED.lane, payload = EXCLUDED.payload, payload_bytes = EXCLUDED.payload_bytes, "
    "error = EXCLUDED.error, sqlstate = EXCLUDED.sqlstate, last_at = EXCLUDED.last_at, "
    "lease_owner = NULL, lease_until = NULL, finished_at = NULL, note = NULL RETURNING t.id"};

// The rows are locked in the order of their positions; a letter that another session is leasing is
// skipped.
const Statement kLeaseRequested{
    "consumer_letters_lease",
    "WITH due AS MATERIALIZED (SELECT d.id FROM skua.dead_letter AS d WHERE d.consumer = $1 "
    "AND d.lane = $2::int4 AND d.pos IS NOT NULL AND (d.status = 'requested' "
    "OR (d.status = 'replaying' AND d.lease_until <= clock_timestamp())) "
    "ORDER BY d.timeline, d.pos LIMIT $5::int8 FOR UPDATE SKIP LOCKED), "
    "leased AS (UPDATE skua.dead_letter AS d SET status = 'replaying', lease_owner = $3, "
    "lease_until = clock_timestamp() + make_interval(secs => $4::int8) FROM due "
    "WHERE d.id = due.id RETURNING d.*) "
    "SELECT id, timeline, pos, operation, actor_id, collection_id, rkey, "
    "replace(encode(payload, 'base64'), E'\\n', ''), error, sqlstate FROM leased "
    "ORDER BY timeline, pos"};

}  // namespace

std::string consumer_letter_key(std::int32_t timeline, std::int64_t position) {
  return fmt::format("{}-{}", timeline, position);
}

std::optional<std::int64_t> write_consumer_letter(Session& session, const ConsumerLetter& letter,
                                                  Timestamp now,
                                                  const ConsumerLetterLimits& limits) {
  const ByteView payload = letter.payload;
  Params params;
  params.text(letter.consumer).text(consumer_letter_key(letter.timeline, letter.position));
  params.int4(letter.lane).int4(letter.timeline).int8(letter.position).text(letter.operation);
  params.int4(letter.actor_id).int4(letter.collection_id).int8(letter.rkey);
  if (payload.empty()) {
    params.null().null();
  } else {
    params.bytea(payload.first(std::min(payload.size(), limits.payload_bytes)));
    params.int4(static_cast<std::int32_t>(payload.size()));
  }
  params.text(escaped(std::string_view(letter.error).substr(0, limits.error_bytes)));
  if (letter.sqlstate.empty()) {
    params.null();
  } else {
    params.text(letter.sqlstate);
  }
  params.timestamp(now).int8(limits.per_account).int8(limits.table_bytes);
  params.int8(limits.account_bytes);
  const Rows written = session.execute(kWriteOne, params);
  if (!written.empty()) return written.int8(0, 0);
  count_letters_left_out(1, letter.consumer + " " +
                                consumer_letter_key(letter.timeline, letter.position) + ": " +
                                letter.error);
  return std::nullopt;
}

std::vector<RequestedLetter> lease_requested_letters(Session& session, const std::string& consumer,
                                                     std::int32_t lane, const ReplayLease& lease,
                                                     std::size_t limit) {
  Params params;
  params.text(consumer).int4(lane).text(lease.owner).int8(lease.duration.count());
  params.int8(static_cast<std::int64_t>(limit));
  const Rows rows = session.execute(kLeaseRequested, params);
  std::vector<RequestedLetter> letters;
  letters.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    RequestedLetter& requested = letters.emplace_back();
    requested.id = rows.int8(row, 0);
    ConsumerLetter& letter = requested.letter;
    letter.consumer = consumer;
    letter.lane = lane;
    letter.timeline = rows.int4(row, 1);
    letter.position = rows.int8(row, 2);
    letter.operation = rows.text_or_null(row, 3).value_or("");
    letter.actor_id = rows.int4(row, 4);
    letter.collection_id = rows.int4(row, 5);
    letter.rkey = rows.int8(row, 6);
    if (!rows.is_null(row, 7)) {
      letter.payload = atproto::parse_base64(rows.text(row, 7)).value_or(Bytes());
    }
    letter.error = rows.text(row, 8);
    letter.sqlstate = rows.text_or_null(row, 9).value_or("");
  }
  return letters;
}

}  // namespace skua::store
