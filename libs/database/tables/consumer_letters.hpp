#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/account_number.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"
#include "tables/dead_letters.hpp"

namespace skua::tables {

// Dead letters of consumers of the change log are changes that a consumer could not process. All
// functions run in the caller's transaction, if there is one, and throw SqlError.
//
// An operator's replay (`request_replay` in dead_letters.hpp) marks such a letter `requested`. The
// loop of the consumer leases requested letters of its lane (`lease_requested_letters`), processes
// the changes again, and ends each lease with `resolve_replay`, `fail_replay` or `release_replay`.

/// A change that a consumer could not process.
struct ConsumerLetter {
  /// The name of the consumer.
  std::string consumer;
  /// The lane of the consumer, counted from 0.
  std::int32_t lane = 0;
  /// The position of the change in the change log, and the timeline of the position.
  std::int32_t timeline = 0;
  std::int64_t position = 0;
  /// The operation: create, update or delete.
  std::string operation;
  /// The numbers of the change log. A number is 0 if this kind of change does not have it.
  AccountNumber actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey = 0;
  /// The data that the consumer keeps for people and replays, such as the event that it sent. May
  /// be empty.
  Bytes payload = {};
  /// The letter keeps these bytes instead if the payload exceeds a limit. If they are empty, a
  /// payload beyond its own limit is cut.
  Bytes short_payload = {};
  std::string error;
  /// Empty if PostgreSQL did not report the error.
  std::string sqlstate;
};

/// Each account has a share of the letters of each consumer. So an account whose changes always
/// fail does not use up the letters of other accounts, and its letters of one consumer do not
/// displace those of another.
struct ConsumerLetterLimits {
  /// The size of one payload.
  std::size_t payload_bytes = std::size_t{64} << 10;
  /// The size of one error, which may be the answer of a receiver. The rest is cut off.
  std::size_t error_bytes = 2'000;
  /// The number of unfinished letters of one account and consumer. All letters without an account
  /// together count as one account.
  std::int64_t per_account = 100;
  /// The size of the payloads and errors of these letters.
  std::int64_t account_bytes = std::int64_t{1} << 20;
  /// The size of the table with its indexes and payloads.
  std::int64_t table_bytes = std::int64_t{1} << 30;
};

/// Returns `skua.dead_letter.key` of a consumer's letter, which is unique for timeline and
/// position.
std::string consumer_letter_key(std::int32_t timeline, std::int64_t position);

/// Writes a letter. If the consumer has a letter of this position, its attempts increase and the
/// letter is dead again, because the consumer failed again; without a new payload it keeps its
/// payload. Letters of consumers use at most half
/// of the table, so that a consumer that always fails does not displace the letters of the indexer.
/// Returns the letter's number, or nothing if the letter is beyond the limits; such a letter is
/// counted and logged.
std::optional<std::int64_t> write_consumer_letter(postgres::Session& session,
                                                  const ConsumerLetter& letter, Timestamp now,
                                                  const ConsumerLetterLimits& limits = {});

/// Stores that the change of a requested letter failed again: the letter is dead again, with one
/// more attempt and this error. Returns false, and changes nothing, if the letter is not requested
/// or its change is not the one at `position`.
bool fail_requested_letter(postgres::Session& session, std::int64_t id, std::int64_t position,
                           const std::string& error, const ConsumerLetterLimits& limits = {});

/// A letter whose replay an operator requested.
struct RequestedLetter {
  std::int64_t id = 0;
  ConsumerLetter letter;
};

/// Leases up to `limit` letters of a lane, in the order of their positions: requested letters, and
/// letters whose lease of a replay has expired. Skips letters that another session is leasing. The
/// lane is that of the letter, so a consumer that changes the number of its lanes must update
/// `skua.dead_letter.lane`.
std::vector<RequestedLetter> lease_requested_letters(postgres::Session& session,
                                                     const std::string& consumer, std::int32_t lane,
                                                     const ReplayLease& lease, std::size_t limit);

}  // namespace skua::tables
