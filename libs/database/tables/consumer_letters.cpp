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

std::string stored_error(const std::string& error, const ConsumerLetterLimits& limits) {
  return escaped(std::string_view(error).substr(0, limits.error_bytes));
}

}  // namespace

std::string consumer_letter_key(std::int32_t timeline, std::int64_t position) {
  return fmt::format("{}-{}", timeline, position);
}

std::optional<std::int64_t> write_consumer_letter(postgres::Session& session,
                                                  const ConsumerLetter& letter, Timestamp now,
                                                  const ConsumerLetterLimits& limits) {
  const auto none_if = [](bool is_empty, auto value) {
    return is_empty ? std::nullopt : std::optional(value);
  };
  const bool is_empty = letter.payload.empty();
  const ByteView payload = letter.payload;
  const ByteView short_payload = letter.short_payload;
  const auto write = [&](ByteView kept) {
    return session.query_first<std::int64_t>(
        sql::consumer_letters_write, letter.consumer,
        consumer_letter_key(letter.timeline, letter.position), letter.lane, letter.timeline,
        letter.position, letter.operation, letter.actor_id, letter.collection_id, letter.rkey,
        none_if(is_empty, kept), none_if(is_empty, static_cast<std::int32_t>(payload.size())),
        stored_error(letter.error, limits), none_if(letter.sqlstate.empty(), letter.sqlstate), now,
        limits.per_account, limits.table_bytes, limits.account_bytes);
  };
  const bool is_whole = payload.size() <= limits.payload_bytes;
  const bool has_short = !short_payload.empty();
  const ByteView cut =
      has_short ? short_payload : payload.first(std::min(payload.size(), limits.payload_bytes));
  auto id = write(is_whole ? payload : cut);
  // The payload may exceed what is left of the account's share.
  if (!id && is_whole && has_short) id = write(short_payload);
  if (id) return id;
  count_letters_left_out(1, letter.consumer + " " +
                                consumer_letter_key(letter.timeline, letter.position) + ": " +
                                letter.error);
  return std::nullopt;
}

bool fail_requested_letter(postgres::Session& session, std::int64_t id, std::int64_t position,
                           const std::string& error, const ConsumerLetterLimits& limits) {
  return session.execute(sql::consumer_letters_fail, id, position, stored_error(error, limits))
             .affected() > 0;
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
