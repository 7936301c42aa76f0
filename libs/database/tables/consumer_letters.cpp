#include "tables/consumer_letters.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "base/text.hpp"
#include "tables/consumer_letters.sql.hpp"

namespace skua::tables {
namespace {

/// A row of consumer_letters_lease.
struct RequestedRow {
  std::int64_t id;
  std::int32_t timeline;
  std::int64_t position;
  std::string operation;
  AccountNumber actor_id;
  std::int32_t collection_id;
  std::int64_t rkey;
  std::optional<Bytes> payload;
  std::string error;
  std::string sqlstate;
};

}  // namespace
std::string consumer_letter_key(std::int32_t timeline, std::int64_t position) {
  return fmt::format("{}-{}", timeline, position);
}

std::optional<std::int64_t> write_consumer_letter(postgres::Session& session,
                                                  const ConsumerLetter& letter, Timestamp now,
                                                  const ConsumerLetterLimits& limits) {
  const std::string key = consumer_letter_key(letter.timeline, letter.position);
  const std::string error = escaped(std::string_view(letter.error).substr(0, limits.error_bytes));
  // An empty SQLSTATE or payload is NULL in the table.
  std::optional<std::string> sqlstate;
  if (!letter.sqlstate.empty()) sqlstate = letter.sqlstate;
  std::optional<ByteView> kept_payload;
  std::optional<std::int32_t> payload_bytes;
  if (!letter.payload.empty()) {
    const ByteView payload = letter.payload;
    kept_payload = payload.first(std::min(payload.size(), limits.payload_bytes));
    payload_bytes = static_cast<std::int32_t>(payload.size());
  }
  auto id = session.query_first<std::int64_t>(
      sql::consumer_letters_write, letter.consumer, key, letter.lane, letter.timeline,
      letter.position, letter.operation, letter.actor_id, letter.collection_id, letter.rkey,
      kept_payload, payload_bytes, error, sqlstate, now, limits.per_account, limits.table_bytes,
      limits.account_bytes);
  // The statement returns no row for a letter beyond the limits.
  if (!id) count_letters_left_out(1, letter.consumer + " " + key + ": " + letter.error);
  return id;
}

std::vector<RequestedLetter> lease_requested_letters(postgres::Session& session,
                                                     const std::string& consumer, std::int32_t lane,
                                                     const ReplayLease& lease, std::size_t limit) {
  std::vector<RequestedLetter> letters;
  for (RequestedRow& row : session.query<RequestedRow>(sql::consumer_letters_lease, consumer, lane,
                                                       lease.owner, lease.duration, limit)) {
    letters.push_back({row.id,
                       {.consumer = consumer,
                        .lane = lane,
                        .timeline = row.timeline,
                        .position = row.position,
                        .operation = std::move(row.operation),
                        .actor_id = row.actor_id,
                        .collection_id = row.collection_id,
                        .rkey = row.rkey,
                        .payload = std::move(row.payload).value_or(Bytes()),
                        .error = std::move(row.error),
                        .sqlstate = std::move(row.sqlstate)}});
  }
  return letters;
}

}  // namespace skua::tables
