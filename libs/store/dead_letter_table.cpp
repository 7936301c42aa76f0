#include "store/dead_letter_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "base/utf8.hpp"
#include "store/dead_letter_table.sql.hpp"

namespace skua::store {
namespace {

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

/// Runs a statement whose first parameters are the filter, with the others.
template <class... Arguments>
Rows execute_matching(Session& session, const Statement& statement, const LetterFilter& filter,
                      const Arguments&... others) {
  const auto status_text = [](LetterStatus status) { return to_string(status); };
  return session.execute(statement, filter.ids, filter.consumer, filter.did,
                         column(filter.statuses, status_text), filter.error, filter.older_than,
                         others...);
}

std::vector<std::int64_t> finish_letters(Session& session, const LetterFilter& filter,
                                         LetterStatus status, std::string_view note) {
  auto ids = rows_of<std::int64_t>(execute_matching(session, sql::dead_letters_finish, filter,
                                                    to_string(status), escaped(note)));
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
  std::vector<LetterRow> letters;
  const Rows rows = execute_matching(session, sql::dead_letters_list, filter, limit);
  for (LetterRecord& record : rows_of<LetterRecord>(rows)) {
    letters.push_back(letter_of(std::move(record)));
  }
  return letters;
}

std::vector<std::int64_t> letter_ids(Session& session, const LetterFilter& filter) {
  return rows_of<std::int64_t>(execute_matching(session, sql::dead_letters_ids, filter));
}

Bytes read_letter_payload(Session& session, std::int64_t id) {
  const auto payload = session.query_first<std::optional<Bytes>>(sql::dead_letters_payload, id);
  return payload.value_or(std::nullopt).value_or(Bytes());
}

std::optional<LetterRow> lease_letter(Session& session, std::int64_t id, const ReplayLease& lease) {
  auto leased =
      session.query_first<LetterRecord>(sql::dead_letters_lease, id, lease.owner, lease.duration);
  if (!leased) return std::nullopt;
  return letter_of(std::move(*leased));
}

bool resolve_replay(Session& session, std::int64_t id, const std::string& owner,
                    std::string_view note) {
  return session.execute(sql::dead_letters_resolve_replay, id, owner, escaped(note)).affected() > 0;
}

bool fail_replay(Session& session, std::int64_t id, const std::string& owner,
                 std::string_view error, std::string_view sqlstate) {
  return session.execute(sql::dead_letters_fail_replay, id, owner, escaped(error), sqlstate)
             .affected() > 0;
}

bool release_replay(Session& session, std::int64_t id, const std::string& owner) {
  return session.execute(sql::dead_letters_release, id, owner).affected() > 0;
}

bool request_replay(Session& session, std::int64_t id) {
  return session.execute(sql::dead_letters_request, id).affected() > 0;
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
  return execute_matching(session, sql::dead_letters_purge, filter).affected();
}

std::size_t purge_finished_letters(Session& session, std::chrono::seconds stay) {
  return session.execute(sql::dead_letters_purge_finished, stay).affected();
}

}  // namespace skua::store
