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

// Looks at the letters of an account only up to its limit, with an index. $16: the bytes of an
// account. When three quarters of the table are used, an account has a 64th of them, so that the
// rest is there for accounts with few letters.
const Statement kWrite{
    "dead_letters_write",
    "WITH given AS ("
    "  SELECT l.*, row_number() OVER (PARTITION BY l.did ORDER BY l.consumer, l.key) AS n,"
    "    sum(coalesce(octet_length(l.payload), 0)) OVER (PARTITION BY l.did"
    "      ORDER BY l.consumer, l.key) AS bytes,"
    "    EXISTS (SELECT FROM skua.dead_letter d"
    "            WHERE d.consumer = l.consumer AND d.key = l.key) AS is_known"
    "  FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[], "
    "    $7::int4[], $8::text[], $9::text[], $10::text[], $11::int8[], $12::bytea[])"
    "    AS l(consumer, key, did, payload, error, sqlstate, payload_bytes, source, path, "
    "operation, "
    "    rev, cid)), "
    "used AS (SELECT pg_total_relation_size('skua.dead_letter') AS bytes), "
    "fitting AS ("
    "  SELECT g.* FROM given g CROSS JOIN used CROSS JOIN LATERAL ("
    "    SELECT count(*) AS n, coalesce(sum(p.bytes), 0) AS bytes FROM ("
    "      SELECT coalesce(octet_length(d.payload), 0) AS bytes FROM skua.dead_letter d"
    "      WHERE d.did = g.did LIMIT $14::int8) AS p) AS present"
    "  WHERE g.is_known OR (used.bytes < $15::int8 AND g.n + present.n <= $14::int8"
    "    AND g.bytes + present.bytes <= CASE WHEN used.bytes < $15::int8 / 4 * 3"
    "      THEN $16::int8 ELSE $16::int8 / 64 END)), "
    "written AS ("
    "  INSERT INTO skua.dead_letter AS t"
    "    (consumer, key, did, payload, error, sqlstate, payload_bytes, source, path, operation, "
    "rev, "
    "    cid, created_at, last_at)"
    "  SELECT consumer, key, did, payload, error, sqlstate, payload_bytes, source, path, "
    "operation, "
    "    rev, cid, $13::timestamptz, $13::timestamptz"
    "  FROM fitting"
    "  ON CONFLICT (consumer, key) DO UPDATE SET attempts = t.attempts + 1,"
    "    payload = EXCLUDED.payload, error = EXCLUDED.error, sqlstate = EXCLUDED.sqlstate,"
    "    payload_bytes = EXCLUDED.payload_bytes, source = EXCLUDED.source, path = EXCLUDED.path,"
    "    operation = EXCLUDED.operation, rev = EXCLUDED.rev, cid = EXCLUDED.cid,"
    "    last_at = EXCLUDED.last_at, status = 'dead', lease_owner = NULL, lease_until = NULL,"
    "    finished_at = NULL, note = NULL"
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

void append_text(Array& texts, const std::string& text) {
  if (text.empty()) {
    texts.null();
  } else {
    texts.text(text);
  }
}

/// The columns of letters, as arrays.
class Columns {
 public:
  void add(const DeadLetter& letter, std::size_t payload_limit) {
    consumers_.text(escaped(letter.consumer));
    keys_.text(escaped(letter.key));
    dids_.text(escaped(letter.did));
    if (letter.payload.empty()) {
      payloads_.null();
      sizes_.null();
    } else {
      const ByteView payload = letter.payload;
      payloads_.bytea(payload.first(std::min(payload.size(), payload_limit)));
      sizes_.int4(static_cast<std::int32_t>(payload.size()));
    }
    errors_.text(error_of(letter, payload_limit));
    append_text(sqlstates_, letter.sqlstate);
    append_text(sources_, escaped(letter.source));
    append_text(paths_, escaped(letter.path));
    append_text(operations_, letter.operation);
    if (letter.rev == 0) {
      revs_.null();
    } else {
      revs_.int8(letter.rev);
    }
    if (letter.cid) {
      cids_.bytea(*letter.cid);
    } else {
      cids_.null();
    }
  }

  /// $1 to $12 of kWrite.
  void append_to(Params& params) const {
    for (const Array* column : {&consumers_, &keys_, &dids_, &payloads_, &errors_, &sqlstates_,
                                &sizes_, &sources_, &paths_, &operations_, &revs_, &cids_}) {
      params.array(*column);
    }
  }

 private:
  Array consumers_{Array::Type::text};
  Array keys_{Array::Type::text};
  Array dids_{Array::Type::text};
  Array payloads_{Array::Type::bytea};
  Array errors_{Array::Type::text};
  Array sqlstates_{Array::Type::text};
  Array sizes_{Array::Type::int4};
  Array sources_{Array::Type::text};
  Array paths_{Array::Type::text};
  Array operations_{Array::Type::text};
  Array revs_{Array::Type::int8};
  Array cids_{Array::Type::bytea};
};

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
  Columns columns;
  for (const auto& [key, letter] : by_key) columns.add(*letter, limits.payload_bytes);
  Params params;
  columns.append_to(params);
  params.timestamp(now).int8(limits.per_account).int8(limits.table_bytes);
  params.int8(limits.account_bytes);
  const Rows rows = session.execute(kWrite, params);
  const DeadLetter& example = *by_key.rbegin()->second;
  count_letters_left_out(by_key.size() - static_cast<std::size_t>(rows.int8(0, 1)),
                         example.key + ": " + example.error);
  return static_cast<std::size_t>(rows.int8(0, 0));
}

void count_letters_left_out(std::size_t count, const std::string& example) {
  if (count == 0) return;
  letter_counters.left_out += count;
  logger("store")->warn(
      "skua.dead_letter is full, for an account or in all (docs/problems.md): {} not stored, for "
      "example {}",
      counted(static_cast<std::int64_t>(count), "dead letter"), example);
}

const DeadLetterCounters& dead_letter_counters() {
  return letter_counters;
}

}  // namespace skua::store
