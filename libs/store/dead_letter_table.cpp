#include "store/dead_letter_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "atproto/base64.hpp"
#include "base/utf8.hpp"

namespace skua::store {
namespace {

constexpr std::array<std::pair<LetterStatus, std::string_view>, 5> kLetterStatuses = {{
    {LetterStatus::Dead, "dead"},
    {LetterStatus::Requested, "requested"},
    {LetterStatus::Replaying, "replaying"},
    {LetterStatus::Resolved, "resolved"},
    {LetterStatus::Discarded, "discarded"},
}};

/// The columns of `letter_of`, of the row `d`.
const std::string kLetterColumns =
    "d.id, d.status, (extract(epoch FROM d.created_at) * 1000000)::int8, "
    "(extract(epoch FROM d.last_at) * 1000000)::int8, d.attempts, d.consumer, d.key, d.did, "
    "d.error, d.sqlstate, d.operation, d.payload_bytes, d.source, d.path, d.rev, "
    "encode(d.cid, 'base64'), d.timeline, d.lane, d.pos, d.actor_id, d.collection_id, d.rkey, "
    "d.lease_owner, (extract(epoch FROM d.lease_until) * 1000000)::int8, "
    "(extract(epoch FROM d.finished_at) * 1000000)::int8, d.note";

/// LetterFilter as the parameters 1 to 6.
const std::string kLetterMatches =
    "(cardinality($1::int8[]) = 0 OR d.id = ANY ($1::int8[])) "
    "AND ($2::text IS NULL OR d.consumer = $2::text) AND ($3::text IS NULL OR d.did = $3::text) "
    "AND (cardinality($4::text[]) = 0 OR d.status = ANY ($4::text[])) "
    "AND ($5::text IS NULL OR strpos(lower(d.error), lower($5::text)) > 0) "
    "AND coalesce(d.finished_at, d.last_at) <= clock_timestamp() - make_interval(secs => $6::int8)";

/// Nobody holds a lease of the letter.
const std::string kLetterNotLeased =
    "(d.status <> 'replaying' OR d.lease_until <= clock_timestamp())";
/// Nobody has handled the letter, or its lease has expired.
const std::string kLetterIsDead =
    "(d.status = 'dead' OR (d.status = 'replaying' AND d.lease_until <= clock_timestamp()))";
const std::string kNoLetterLease = "lease_owner = NULL, lease_until = NULL";
/// $1: the number of the letter, $2: the lease owner.
const std::string kLetterLeasedBy =
    " WHERE d.id = $1::int8 AND d.status = 'replaying' "
    "AND d.lease_owner = $2";

const Statement kListLetters{
    "dead_letters_list", "SELECT " + kLetterColumns + " FROM skua.dead_letter AS d WHERE " +
                             kLetterMatches + " ORDER BY d.last_at DESC, d.id DESC LIMIT $7::int8"};
const Statement kLetterIds{"dead_letters_ids", "SELECT d.id FROM skua.dead_letter AS d WHERE " +
                                                   kLetterMatches + " ORDER BY d.id"};
const Statement kLetterPayload{"dead_letters_payload",
                               "SELECT replace(encode(payload, 'base64'), E'\\n', '') "
                               "FROM skua.dead_letter WHERE id = $1::int8"};
const Statement kLeaseLetter{
    "dead_letters_lease",
    "UPDATE skua.dead_letter AS d SET status = 'replaying', lease_owner = $2, "
    "lease_until = clock_timestamp() + make_interval(secs => $3::int8) "
    "WHERE d.id = $1::int8 AND d.pos IS NULL AND " +
        kLetterIsDead + " RETURNING " + kLetterColumns};
const Statement kResolveReplay{"dead_letters_resolve_replay",
                               "UPDATE skua.dead_letter AS d SET status = 'resolved', " +
                                   kNoLetterLease + ", finished_at = clock_timestamp(), note = $3" +
                                   kLetterLeasedBy};
const Statement kFailReplay{
    "dead_letters_fail_replay",
    "UPDATE skua.dead_letter AS d SET status = 'dead', " + kNoLetterLease +
        ", last_at = clock_timestamp(), attempts = d.attempts + 1, error = $3, "
        "sqlstate = nullif($4, '')" +
        kLetterLeasedBy};
const Statement kReleaseReplay{
    "dead_letters_release",
    "UPDATE skua.dead_letter AS d SET status = 'dead', " + kNoLetterLease + kLetterLeasedBy};
const Statement kRequestReplay{
    "dead_letters_request",
    "UPDATE skua.dead_letter AS d SET status = 'requested', " + kNoLetterLease +
        " WHERE d.id = $1::int8 AND d.pos IS NOT NULL AND " + kLetterIsDead};
const Statement kFinishLetters{
    "dead_letters_finish", "UPDATE skua.dead_letter AS d SET status = $7, " + kNoLetterLease +
                               ", finished_at = clock_timestamp(), note = nullif($8, '') WHERE " +
                               kLetterMatches + " AND d.finished_at IS NULL AND " +
                               kLetterNotLeased + " RETURNING d.id"};
const Statement kPurgeLetters{
    "dead_letters_purge",
    "DELETE FROM skua.dead_letter AS d WHERE " + kLetterMatches + " AND " + kLetterNotLeased};
const Statement kPurgeFinishedLetters{"dead_letters_purge_finished",
                                      "DELETE FROM skua.dead_letter WHERE finished_at <= "
                                      "clock_timestamp() - make_interval(secs => $1::int8)"};

Timestamp time_at(const Rows& rows, std::size_t row, std::size_t column) {
  return Timestamp(std::chrono::microseconds(rows.int8(row, column)));
}

std::optional<Timestamp> letter_time(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return time_at(rows, row, column);
}

std::optional<atproto::Digest> digest_at(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.is_null(row, column)) return std::nullopt;
  const auto bytes = atproto::parse_base64(rows.text(row, column));
  atproto::Digest digest{};
  if (!bytes || bytes->size() != digest.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), digest.begin());
  return digest;
}

LetterRow letter_of(const Rows& rows, std::size_t row) {
  LetterRow letter;
  letter.id = rows.int8(row, 0);
  letter.status = letter_status(rows.text(row, 1)).value_or(LetterStatus::Dead);
  letter.created_at = time_at(rows, row, 2);
  letter.last_at = time_at(rows, row, 3);
  letter.attempts = rows.int4(row, 4);
  letter.consumer = rows.text(row, 5);
  letter.key = rows.text(row, 6);
  letter.did = rows.text(row, 7);
  letter.error = rows.text(row, 8);
  letter.sqlstate = rows.text_or_null(row, 9);
  letter.operation = rows.text_or_null(row, 10);
  if (!rows.is_null(row, 11)) letter.payload_bytes = rows.int4(row, 11);
  letter.source = rows.text_or_null(row, 12);
  letter.path = rows.text_or_null(row, 13);
  if (!rows.is_null(row, 14)) letter.rev = rows.int8(row, 14);
  letter.cid = digest_at(rows, row, 15);
  if (!rows.is_null(row, 18)) {
    const auto number = [&](std::size_t column) {
      return rows.is_null(row, column) ? 0 : rows.int4(row, column);
    };
    letter.change = {.timeline = rows.int4(row, 16),
                     .lane = rows.int4(row, 17),
                     .position = rows.int8(row, 18),
                     .actor_id = number(19),
                     .collection_id = number(20),
                     .rkey = rows.is_null(row, 21) ? 0 : rows.int8(row, 21)};
  }
  letter.lease_owner = rows.text_or_null(row, 22);
  letter.lease_until = letter_time(rows, row, 23);
  letter.finished_at = letter_time(rows, row, 24);
  letter.note = rows.text_or_null(row, 25);
  return letter;
}

void text_or_null(Params& params, const std::optional<std::string>& text) {
  if (text) {
    params.text(*text);
  } else {
    params.null();
  }
}

Params params_of(const LetterFilter& filter) {
  Array ids(Array::Type::int8);
  for (const std::int64_t id : filter.ids) ids.int8(id);
  Array statuses(Array::Type::text);
  for (const LetterStatus status : filter.statuses) statuses.text(to_string(status));
  Params params;
  params.array(ids);
  text_or_null(params, filter.consumer);
  text_or_null(params, filter.did);
  params.array(statuses);
  text_or_null(params, filter.error);
  params.int8(filter.older_than.count());
  return params;
}

std::vector<std::int64_t> first_numbers(const Rows& rows) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) numbers.push_back(rows.int8(row, 0));
  return numbers;
}

std::vector<std::int64_t> finish_letters(Session& session, const LetterFilter& filter,
                                         LetterStatus status, std::string_view note) {
  Params params = params_of(filter);
  params.text(to_string(status)).text(escaped(note));
  std::vector<std::int64_t> ids = first_numbers(session.execute(kFinishLetters, params));
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

std::string_view to_string(LetterStatus status) {
  for (const auto& [known, text] : kLetterStatuses) {
    if (known == status) return text;
  }
  return {};
}

std::optional<LetterStatus> letter_status(std::string_view text) {
  for (const auto& [status, known] : kLetterStatuses) {
    if (known == text) return status;
  }
  return std::nullopt;
}

std::vector<LetterRow> list_letters(Session& session, const LetterFilter& filter,
                                    std::size_t limit) {
  Params params = params_of(filter);
  params.int8(static_cast<std::int64_t>(limit));
  const Rows rows = session.execute(kListLetters, params);
  std::vector<LetterRow> letters;
  letters.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) letters.push_back(letter_of(rows, row));
  return letters;
}

std::vector<std::int64_t> letter_ids(Session& session, const LetterFilter& filter) {
  return first_numbers(session.execute(kLetterIds, params_of(filter)));
}

Bytes read_letter_payload(Session& session, std::int64_t id) {
  Params params;
  params.int8(id);
  const Rows rows = session.execute(kLetterPayload, params);
  if (rows.empty() || rows.is_null(0, 0)) return {};
  return atproto::parse_base64(rows.text(0, 0)).value_or(Bytes());
}

std::optional<LetterRow> lease_letter(Session& session, std::int64_t id, const ReplayLease& lease) {
  Params params;
  params.int8(id).text(lease.owner).int8(lease.duration.count());
  const Rows rows = session.execute(kLeaseLetter, params);
  if (rows.empty()) return std::nullopt;
  return letter_of(rows, 0);
}

bool resolve_replay(Session& session, std::int64_t id, const std::string& owner,
                    std::string_view note) {
  Params params;
  params.int8(id).text(owner).text(escaped(note));
  return session.execute(kResolveReplay, params).affected() > 0;
}

bool fail_replay(Session& session, std::int64_t id, const std::string& owner,
                 std::string_view error, std::string_view sqlstate) {
  Params params;
  params.int8(id).text(owner).text(escaped(error)).text(sqlstate);
  return session.execute(kFailReplay, params).affected() > 0;
}

bool release_replay(Session& session, std::int64_t id, const std::string& owner) {
  Params params;
  params.int8(id).text(owner);
  return session.execute(kReleaseReplay, params).affected() > 0;
}

bool request_replay(Session& session, std::int64_t id) {
  Params params;
  params.int8(id);
  return session.execute(kRequestReplay, params).affected() > 0;
}

std::vector<std::int64_t> resolve_letters(Session& session, const LetterFilter& filter,
                                          std::string_view note) {
  return finish_letters(session, filter, LetterStatus::Resolved, note);
}

std::vector<std::int64_t> discard_letters(Session& session, const LetterFilter& filter,
                                          std::string_view note) {
  return finish_letters(session, filter, LetterStatus::Discarded, note);
}

std::string unfinished_reason(Session& session, std::int64_t id) {
  const auto rows = list_letters(session, {.ids = {id}}, 1);
  if (rows.empty()) return "there is no such letter";
  return fmt::format("is {} already", to_string(rows[0].status));
}

std::size_t purge_letters(Session& session, const LetterFilter& filter) {
  return session.execute(kPurgeLetters, params_of(filter)).affected();
}

std::size_t purge_finished_letters(Session& session, std::chrono::seconds stay) {
  Params params;
  params.int8(stay.count());
  return session.execute(kPurgeFinishedLetters, params).affected();
}

}  // namespace skua::store
