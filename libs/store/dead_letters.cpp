#include "store/dead_letters.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"

namespace skua::store {
namespace {

// Counts the letters of an account only up to its limit, with an index.
const Statement kWrite{
    "dead_letters_write",
    "WITH given AS ("
    "  SELECT l.*, row_number() OVER (PARTITION BY l.did ORDER BY l.consumer, l.key) AS n,"
    "    EXISTS (SELECT FROM skua.dead_letter d"
    "            WHERE d.consumer = l.consumer AND d.key = l.key) AS is_known"
    "  FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[])"
    "    AS l(consumer, key, did, payload, error, sqlstate)), "
    "fitting AS ("
    "  SELECT g.* FROM given g"
    "  WHERE g.is_known OR (pg_total_relation_size('skua.dead_letter') < $9::int8 AND"
    "    g.n + (SELECT count(*) FROM (SELECT FROM skua.dead_letter d WHERE d.did = g.did"
    "                                 LIMIT $8::int8) AS present) <= $8::int8)), "
    "written AS ("
    "  INSERT INTO skua.dead_letter AS t"
    "    (consumer, key, did, payload, error, sqlstate, created_at, last_at)"
    "  SELECT consumer, key, did, payload, error, sqlstate, $7::timestamptz, $7::timestamptz"
    "  FROM fitting"
    "  ON CONFLICT (consumer, key) DO UPDATE SET attempts = t.attempts + 1,"
    "    payload = EXCLUDED.payload, error = EXCLUDED.error, sqlstate = EXCLUDED.sqlstate,"
    "    last_at = EXCLUDED.last_at"
    "  WHERE (t.payload, t.error, t.sqlstate) IS DISTINCT FROM"
    "    (EXCLUDED.payload, EXCLUDED.error, EXCLUDED.sqlstate)"
    "  RETURNING 1) "
    "SELECT (SELECT count(*) FROM written), (SELECT count(*) FROM fitting)"};

DeadLetterCounters letter_counters;

/// The letter's error; it also mentions if the payload was cut.
std::string error_of(const DeadLetter& letter, std::size_t payload_bytes) {
  std::string error = escaped(letter.error);
  if (letter.payload.size() > payload_bytes) {
    error += fmt::format(" (the payload had {} bytes; the first {} are kept)",
                         letter.payload.size(), payload_bytes);
  }
  return error;
}

void count_left_out(const DeadLetter& example, std::size_t count) {
  if (count == 0) return;
  letter_counters.left_out += count;
  logger("store")->warn(
      "skua.dead_letter is full, for an account or in all (docs/operations.md): {} not stored, for "
      "example {}: {}",
      counted(static_cast<std::int64_t>(count), "dead letter"), example.key, example.error);
}

}  // namespace

std::size_t write_dead_letters(Session& session, const std::vector<DeadLetter>& letters,
                               Timestamp now, const DeadLetterLimits& limits) {
  // Sorted by the conflict key, and one letter for each key: a statement may not update a row
  // twice.
  std::map<std::pair<std::string, std::string>, const DeadLetter*> by_key;
  for (const DeadLetter& letter : letters) {
    by_key[{escaped(letter.consumer), escaped(letter.key)}] = &letter;
  }
  if (by_key.empty()) return 0;
  Array consumers(Array::Type::text);
  Array keys(Array::Type::text);
  Array dids(Array::Type::text);
  Array payloads(Array::Type::bytea);
  Array errors(Array::Type::text);
  Array sqlstates(Array::Type::text);
  for (const auto& [key, letter] : by_key) {
    consumers.text(key.first);
    keys.text(key.second);
    dids.text(escaped(letter->did));
    if (letter->payload.empty()) {
      payloads.null();
    } else {
      const ByteView payload = letter->payload;
      payloads.bytea(payload.first(std::min(payload.size(), limits.payload_bytes)));
    }
    errors.text(error_of(*letter, limits.payload_bytes));
    if (letter->sqlstate.empty()) {
      sqlstates.null();
    } else {
      sqlstates.text(letter->sqlstate);
    }
  }
  Params params;
  params.array(consumers).array(keys).array(dids).array(payloads).array(errors).array(sqlstates);
  params.timestamp(now).int8(limits.per_account).int8(limits.table_bytes);
  const Rows rows = session.execute(kWrite, params);
  count_left_out(*by_key.rbegin()->second,
                 by_key.size() - static_cast<std::size_t>(rows.int8(0, 1)));
  return static_cast<std::size_t>(rows.int8(0, 0));
}

const DeadLetterCounters& dead_letter_counters() {
  return letter_counters;
}

}  // namespace skua::store
