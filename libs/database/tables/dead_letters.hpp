#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/sha256.hpp"
#include "base/account_number.hpp"
#include "base/bytes.hpp"
#include "base/metric.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

/// Dead letters that nobody has handled, grouped by their reason.
struct LetterReason {
  std::int64_t count = 0;
  std::string reason;
  /// The time of the last rejection.
  Timestamp last_at{};
};

struct LetterReasons {
  /// The number of all such letters, including letters whose reason is not in `reasons`.
  std::int64_t all = 0;
  /// The most frequent reason is first.
  std::vector<LetterReason> reasons;
};

/// Returns at most `limit` reasons (`skua.dead_letter_errors`). Scans the table. Throws SqlError.
LetterReasons read_letter_reasons(postgres::Session& session, std::size_t limit);

// These functions write the indexer's letters to `skua.dead_letter`. consumer_letters.hpp writes
// the letters of consumers of the change log. The functions at the end of this file list and finish
// both kinds.

/// Input that could not become rows (`skua.dead_letter`).
struct DeadLetter {
  /// The component that rejected the input.
  std::string consumer;
  /// The key identifies the letter for its consumer. The indexer's keys have source, position and
  /// item.
  std::string key;
  /// The account that the input concerns. Empty if it is unknown.
  std::string did;
  Bytes payload;
  std::string error;
  /// Empty if PostgreSQL did not reject the input.
  std::string sqlstate;
  /// The source of the input, as in `skua.cursors`. Empty if it is unknown.
  std::string source = {};
  /// The path of the record. Empty if the letter is not about one record.
  std::string path = {};
  /// create, update, delete, frame or label, as in `skua.dead_letter.operation`. Empty if it is
  /// unknown.
  std::string operation = {};
  /// The revision of the commit, which fits an int8, or 0 if it is unknown.
  std::int64_t rev = 0;
  /// The hash of the record, if the payload is the record; otherwise nothing.
  std::optional<atproto::Digest> cid = std::nullopt;
};

/// The limits of the table, so that invalid input does not fill the disk.
struct DeadLetterLimits {
  /// The size of one payload. The rest is cut off, and the error mentions this.
  std::size_t payload_bytes = std::size_t{1} << 20;
  /// The number of letters of one account. All letters without an account together count as one
  /// account.
  std::int64_t per_account = 1'000;
  /// The size of the payloads of one account. The limit is a 64th of this size when three quarters
  /// of the table are used.
  std::int64_t account_bytes = std::int64_t{4} << 20;
  /// The size of the table with its indexes and payloads.
  std::int64_t table_bytes = std::int64_t{1} << 30;
};

/// Writes letters, in the caller's transaction if there is one. If a letter exists with another
/// outcome, its attempts increase and the letter is dead again. With the same outcome, as after a
/// replay, the letter does not change, so a finished letter stays finished. Texts may contain
/// anything: control characters and invalid UTF-8 are escaped. New letters beyond the limits are
/// counted and logged instead. Returns the number of changed rows.
std::size_t write_dead_letters(postgres::Session& session, const std::vector<DeadLetter>& letters,
                               Timestamp now, const DeadLetterLimits& limits = {});

/// Counters of this process. Any thread.
struct DeadLetterCounters {
  Counter left_out{"dead_letters_left_out", "skua_dead_letters_left_out_total", "dead letters",
                   "Dead letters that are not stored because skua.dead_letter is full"};
};
const DeadLetterCounters& dead_letter_counters();
/// Counts and logs letters beyond the limits. Any thread.
void count_letters_left_out(std::size_t count, const std::string& example);

// These functions handle dead letters that were written: they list, replay, resolve, discard and
// delete them (`skua dead-letters`). All functions run in the caller's transaction, if there is
// one, and throw SqlError. Times come from the server's clock.
//
// A replay holds a lease, which has a random token of its process (`postgres::process_name`) and a
// deadline. Another process may lease the letter after the deadline, so a replay must be
// idempotent. A former owner cannot end the lease of another owner.

/// The values of `skua.dead_letter.status`.
enum class LetterStatus : std::uint8_t { Dead, Requested, Replaying, Resolved, Discarded };

std::string_view to_string(LetterStatus status);
/// Returns nothing if there is no such status.
std::optional<LetterStatus> letter_status(std::string_view text);

/// A row of `skua.dead_letter` without its payload. Texts are escaped (base/text.hpp).
struct LetterRow {
  std::int64_t id = 0;
  LetterStatus status = LetterStatus::Dead;
  Timestamp created_at;
  Timestamp last_at;
  std::int32_t attempts = 0;
  std::string consumer;
  std::string key;
  /// Empty if the account is unknown.
  std::string did;
  std::string error;
  std::optional<std::string> sqlstate;
  std::optional<std::string> operation;
  /// The size of the input before it was cut. Nothing if the letter has no payload.
  std::optional<std::int32_t> payload_bytes;

  // Only the indexer's letters have these members.
  std::optional<std::string> source;
  std::optional<std::string> path;
  std::optional<std::int64_t> rev;
  std::optional<atproto::Digest> cid;

  /// The change in a consumer's letter.
  struct Change {
    std::int32_t timeline = 0;
    std::int32_t lane = 0;
    std::int64_t position = 0;
    AccountNumber actor_id = 0;
    std::int32_t collection_id = 0;
    std::int64_t rkey = 0;
  };
  /// Nothing if the letter is the indexer's.
  std::optional<Change> change;

  std::optional<std::string> lease_owner;
  std::optional<Timestamp> lease_until;
  std::optional<Timestamp> finished_at;
  std::optional<std::string> note;
};

/// Selects the letters that a command applies to, which match every field.
struct LetterFilter {
  /// An empty list selects all letters.
  std::vector<std::int64_t> ids = {};
  std::optional<std::string> consumer = std::nullopt;
  std::optional<std::string> did = std::nullopt;
  /// A lane of a consumer of the change log.
  std::optional<std::int32_t> lane = std::nullopt;
  /// An empty list selects every status.
  std::vector<LetterStatus> statuses = {};
  /// A part of the error, in upper or lower case.
  std::optional<std::string> error = std::nullopt;
  /// The time since the letter was finished, or if it is not finished, since its last rejection.
  /// Selects letters with at least this time.
  std::chrono::seconds older_than{0};
};

/// Returns at most `limit` matching letters, the most recently rejected first. Scans the table.
std::vector<LetterRow> list_letters(postgres::Session& session, const LetterFilter& filter,
                                    std::size_t limit);

/// Returns the numbers of all matching letters: the indexer's letters in the order in which they
/// were written, then those of consumers in the order of their positions.
std::vector<std::int64_t> letter_ids(postgres::Session& session, const LetterFilter& filter);

/// Returns the payload of a letter, or nothing if the letter has none or does not exist.
Bytes read_letter_payload(postgres::Session& session, std::int64_t id);

/// The owner of a lease.
struct ReplayLease {
  /// The owner is random and unique to a process (postgres::process_name).
  std::string owner;
  std::chrono::seconds duration = std::chrono::minutes(5);
};

/// Leases a letter of the indexer that is dead, or whose lease has expired. Returns nothing if the
/// letter is finished, another process has leased it, it is a consumer's letter, or there is no
/// such letter.
std::optional<LetterRow> lease_letter(postgres::Session& session, std::int64_t id,
                                      const ReplayLease& lease);

/// Ends a lease and marks the letter as resolved. This function and the next two return false, and
/// change nothing, if the owner does not lease the letter any more.
bool resolve_replay(postgres::Session& session, std::int64_t id, const std::string& owner,
                    std::string_view note);
/// Ends a lease. The letter is dead again, with one more attempt and this error.
bool fail_replay(postgres::Session& session, std::int64_t id, const std::string& owner,
                 std::string_view error, std::string_view sqlstate);
/// Ends a lease. The letter is dead, as before the lease.
bool release_replay(postgres::Session& session, std::int64_t id, const std::string& owner);

/// Hands a consumer's letter that is dead, or whose lease has expired, to its consumer
/// (consumer_letters.hpp). Returns false if the letter has another status or is the indexer's.
bool request_replay(postgres::Session& session, std::int64_t id);

/// Resolves or discards the matching letters that are not finished, except letters with a lease
/// that has not expired. Returns the numbers of these letters.
std::vector<std::int64_t> resolve_letters(postgres::Session& session, const LetterFilter& filter,
                                          std::string_view note);
std::vector<std::int64_t> discard_letters(postgres::Session& session, const LetterFilter& filter,
                                          std::string_view note);

/// Returns the reason, for people, why `resolve_letters` or `discard_letters` left a letter out.
std::string unfinished_reason(postgres::Session& session, std::int64_t id);

/// Deletes the matching letters, except letters with a lease that has not expired. Returns the
/// number of deleted letters.
std::size_t purge_letters(postgres::Session& session, const LetterFilter& filter);

/// The time for which a finished letter stays.
inline constexpr std::chrono::days kFinishedLettersStay{30};

/// Deletes letters that have been finished for `stay`. Uses an index, so that it can be called
/// regularly. Returns the number of deleted letters.
std::size_t purge_finished_letters(postgres::Session& session,
                                   std::chrono::seconds stay = kFinishedLettersStay);

}  // namespace skua::tables
