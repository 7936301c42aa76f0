#include "tables/dead_letters.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "tables/dead_letters.sql.hpp"

namespace skua::tables {

namespace {

struct ReasonRow {
  std::int64_t count;
  std::string reason;
  Timestamp last_at;
  std::int64_t all;
};

DeadLetterCounters letter_counters;

/// Returns the letter's error, which also mentions a payload that was cut.
std::string error_of(const DeadLetter& letter, std::size_t payload_bytes) {
  std::string error = escaped(letter.error);
  if (letter.payload.size() > payload_bytes) {
    error += fmt::format(" (the payload had {} bytes; the first {} are kept)",
                         letter.payload.size(), payload_bytes);
  }
  return error;
}

std::optional<std::string> none_if_empty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

struct WrittenLetters {
  std::int64_t written;
  std::int64_t fitting;
};

/// Returns the number of letters that changed, and the number of letters that are within the
/// limits.
WrittenLetters write_letters(postgres::Session& session,
                             const std::vector<const DeadLetter*>& letters, Timestamp now,
                             const DeadLetterLimits& limits) {
  const auto text = [&](auto member) {
    return postgres::column(
        letters, [member](const DeadLetter* letter) { return escaped(letter->*member); });
  };
  const auto optional_text = [&](auto member) {
    return postgres::column(letters, [member](const DeadLetter* letter) {
      return none_if_empty(escaped(letter->*member));
    });
  };
  const auto payload = [&](const DeadLetter* letter) -> std::optional<ByteView> {
    if (letter->payload.empty()) return std::nullopt;
    return ByteView(letter->payload).first(std::min(letter->payload.size(), limits.payload_bytes));
  };
  const auto payload_size = [](const DeadLetter* letter) -> std::optional<std::int32_t> {
    if (letter->payload.empty()) return std::nullopt;
    return static_cast<std::int32_t>(letter->payload.size());
  };
  const auto rev = [](const DeadLetter* letter) {
    return letter->rev == 0 ? std::nullopt : std::optional(letter->rev);
  };
  return session.query_one<WrittenLetters>(
      sql::dead_letters_write, text(&DeadLetter::consumer), text(&DeadLetter::key),
      text(&DeadLetter::did), postgres::column(letters, payload),
      postgres::column(letters,
                       [&](const DeadLetter* one) { return error_of(*one, limits.payload_bytes); }),
      optional_text(&DeadLetter::sqlstate), postgres::column(letters, payload_size),
      optional_text(&DeadLetter::source), optional_text(&DeadLetter::path),
      optional_text(&DeadLetter::operation), postgres::column(letters, rev),
      postgres::column(letters, &DeadLetter::cid), now, limits.per_account, limits.table_bytes,
      limits.account_bytes);
}

constexpr std::array<std::pair<LetterStatus, std::string_view>, 5> kLetterStatuses = {{
    {LetterStatus::Dead, "dead"},
    {LetterStatus::Requested, "requested"},
    {LetterStatus::Replaying, "replaying"},
    {LetterStatus::Resolved, "resolved"},
    {LetterStatus::Discarded, "discarded"},
}};

/// A row of dead_letters_list.
struct LetterRecord {
  std::int64_t id;
  std::string status;
  Timestamp created_at;
  Timestamp last_at;
  std::int32_t attempts;
  std::string consumer;
  std::string key;
  std::string did;
  std::string error;
  std::optional<std::string> sqlstate;
  std::optional<std::string> operation;
  std::optional<std::int32_t> payload_bytes;
  std::optional<std::string> source;
  std::optional<std::string> path;
  std::optional<std::int64_t> rev;
  std::optional<atproto::Digest> cid;
  std::optional<std::int32_t> timeline;
  std::optional<std::int32_t> lane;
  std::optional<std::int64_t> pos;
  std::optional<AccountNumber> actor_id;
  std::optional<std::int32_t> collection_id;
  std::optional<std::int64_t> rkey;
  std::optional<std::string> lease_owner;
  std::optional<Timestamp> lease_until;
  std::optional<Timestamp> finished_at;
  std::optional<std::string> note;
};

LetterRow letter_of(LetterRecord record) {
  LetterRow letter{.id = record.id,
                   .status = letter_status(record.status).value_or(LetterStatus::Dead),
                   .created_at = record.created_at,
                   .last_at = record.last_at,
                   .attempts = record.attempts,
                   .consumer = std::move(record.consumer),
                   .key = std::move(record.key),
                   .did = std::move(record.did),
                   .error = std::move(record.error),
                   .sqlstate = std::move(record.sqlstate),
                   .operation = std::move(record.operation),
                   .payload_bytes = record.payload_bytes,
                   .source = std::move(record.source),
                   .path = std::move(record.path),
                   .rev = record.rev,
                   .cid = record.cid,
                   .change = std::nullopt,
                   .lease_owner = std::move(record.lease_owner),
                   .lease_until = record.lease_until,
                   .finished_at = record.finished_at,
                   .note = std::move(record.note)};
  if (record.pos) {
    letter.change = {.timeline = record.timeline.value_or(0),
                     .lane = record.lane.value_or(0),
                     .position = *record.pos,
                     .actor_id = record.actor_id.value_or(0),
                     .collection_id = record.collection_id.value_or(0),
                     .rkey = record.rkey.value_or(0)};
  }
  return letter;
}

/// Runs a statement whose first parameters are the filter. The other arguments follow.
template <class... Arguments>
postgres::Rows execute_matching(postgres::Session& session, const postgres::Statement& statement,
                                const LetterFilter& filter, const Arguments&... others) {
  const auto status_text = [](LetterStatus status) { return to_string(status); };
  return session.execute(statement, filter.ids, filter.consumer, filter.did,
                         postgres::column(filter.statuses, status_text), filter.error,
                         filter.older_than, filter.lane, others...);
}

std::vector<std::int64_t> finish_letters(postgres::Session& session, const LetterFilter& filter,
                                         LetterStatus status, std::string_view note) {
  auto ids = rows_of<std::int64_t>(execute_matching(session, sql::dead_letters_finish, filter,
                                                    to_string(status), escaped(note)));
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

LetterReasons read_letter_reasons(postgres::Session& session, std::size_t limit) {
  LetterReasons found;
  for (ReasonRow& row : session.query<ReasonRow>(sql::letter_reasons, limit)) {
    found.all = row.all;
    found.reasons.push_back({row.count, std::move(row.reason), row.last_at});
  }
  return found;
}

std::size_t write_dead_letters(postgres::Session& session, const std::vector<DeadLetter>& letters,
                               Timestamp now, const DeadLetterLimits& limits) {
  // Sorts the letters by the conflict key and keeps one letter for each key, because a statement
  // may not update a row twice.
  std::map<std::pair<std::string, std::string>, const DeadLetter*> by_key;
  for (const DeadLetter& letter : letters) {
    by_key[{escaped(letter.consumer), escaped(letter.key)}] = &letter;
  }
  if (by_key.empty()) return 0;
  std::vector<const DeadLetter*> sorted;
  sorted.reserve(by_key.size());
  for (const auto& [key, letter] : by_key) sorted.push_back(letter);
  const auto [written, fitting] = write_letters(session, sorted, now, limits);
  const DeadLetter& example = *sorted.back();
  count_letters_left_out(by_key.size() - static_cast<std::size_t>(fitting),
                         example.key + ": " + example.error);
  return static_cast<std::size_t>(written);
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

std::vector<LetterRow> list_letters(postgres::Session& session, const LetterFilter& filter,
                                    std::size_t limit) {
  std::vector<LetterRow> letters;
  const postgres::Rows rows = execute_matching(session, sql::dead_letters_list, filter, limit);
  for (LetterRecord& record : rows_of<LetterRecord>(rows)) {
    letters.push_back(letter_of(std::move(record)));
  }
  return letters;
}

std::vector<std::int64_t> letter_ids(postgres::Session& session, const LetterFilter& filter) {
  return rows_of<std::int64_t>(execute_matching(session, sql::dead_letters_ids, filter));
}

Bytes read_letter_payload(postgres::Session& session, std::int64_t id) {
  const auto payload = session.query_first<std::optional<Bytes>>(sql::dead_letters_payload, id);
  return payload.value_or(std::nullopt).value_or(Bytes());
}

std::optional<LetterRow> lease_letter(postgres::Session& session, std::int64_t id,
                                      const ReplayLease& lease) {
  auto leased =
      session.query_first<LetterRecord>(sql::dead_letters_lease, id, lease.owner, lease.duration);
  if (!leased) return std::nullopt;
  return letter_of(std::move(*leased));
}

bool resolve_replay(postgres::Session& session, std::int64_t id, const std::string& owner,
                    std::string_view note) {
  return session.execute(sql::dead_letters_resolve_replay, id, owner, escaped(note)).affected() > 0;
}

bool fail_replay(postgres::Session& session, std::int64_t id, const std::string& owner,
                 std::string_view error, std::string_view sqlstate) {
  return session.execute(sql::dead_letters_fail_replay, id, owner, escaped(error), sqlstate)
             .affected() > 0;
}

bool release_replay(postgres::Session& session, std::int64_t id, const std::string& owner) {
  return session.execute(sql::dead_letters_release, id, owner).affected() > 0;
}

bool request_replay(postgres::Session& session, std::int64_t id) {
  return session.execute(sql::dead_letters_request, id).affected() > 0;
}

std::vector<std::int64_t> resolve_letters(postgres::Session& session, const LetterFilter& filter,
                                          std::string_view note) {
  return finish_letters(session, filter, LetterStatus::Resolved, note);
}

std::vector<std::int64_t> discard_letters(postgres::Session& session, const LetterFilter& filter,
                                          std::string_view note) {
  return finish_letters(session, filter, LetterStatus::Discarded, note);
}

std::string unfinished_reason(postgres::Session& session, std::int64_t id) {
  const auto rows = list_letters(session, {.ids = {id}}, 1);
  if (rows.empty()) return "there is no such letter";
  return fmt::format("is {} already", to_string(rows[0].status));
}

std::size_t purge_letters(postgres::Session& session, const LetterFilter& filter) {
  return execute_matching(session, sql::dead_letters_purge, filter).affected();
}

std::size_t purge_finished_letters(postgres::Session& session, std::chrono::seconds stay) {
  return session.execute(sql::dead_letters_purge_finished, stay).affected();
}

}  // namespace skua::tables
