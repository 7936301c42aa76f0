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
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

// What happens to dead letters after they are written: they are listed, replayed, resolved,
// discarded and deleted (`skua dead-letters`). All functions run in the caller's transaction, if
// there is one, and throw SqlError. Times come from the server's clock.
//
// A replay holds a lease: a random token of its process (`store::process_name`), and a deadline.
// Another process may lease the letter after the deadline, so a replay must be idempotent. A former
// owner cannot end the lease of another one.

/// As in `skua.dead_letter.status`.
enum class LetterStatus : std::uint8_t { Dead, Requested, Replaying, Resolved, Discarded };

std::string_view to_string(LetterStatus status);
/// Nothing: no such status.
std::optional<LetterStatus> letter_status(std::string_view text);

/// A row of `skua.dead_letter` without its payload. Texts are escaped (base/utf8.hpp).
struct LetterRow {
  std::int64_t id = 0;
  LetterStatus status = LetterStatus::Dead;
  Timestamp created_at;
  Timestamp last_at;
  std::int32_t attempts = 0;
  std::string consumer;
  std::string key;
  /// Empty: unknown.
  std::string did;
  std::string error;
  std::optional<std::string> sqlstate;
  std::optional<std::string> operation;
  /// The size of the input, before it was cut; nothing: the letter has no payload.
  std::optional<std::int32_t> payload_bytes;

  // Of the indexer's letters.
  std::optional<std::string> source;
  std::optional<std::string> path;
  std::optional<std::int64_t> rev;
  std::optional<atproto::Digest> cid;

  /// Of a consumer's letters.
  struct Change {
    std::int32_t timeline = 0;
    std::int32_t lane = 0;
    std::int64_t position = 0;
    AccountNumber actor_id = 0;
    std::int32_t collection_id = 0;
    std::int64_t rkey = 0;
  };
  /// Nothing: the letter is the indexer's.
  std::optional<Change> change;

  std::optional<std::string> lease_owner;
  std::optional<Timestamp> lease_until;
  std::optional<Timestamp> finished_at;
  std::optional<std::string> note;
};

/// The letters that a command applies to: those that match every field.
struct LetterFilter {
  /// Empty: all letters.
  std::vector<std::int64_t> ids = {};
  std::optional<std::string> consumer = std::nullopt;
  std::optional<std::string> did = std::nullopt;
  /// Empty: every status.
  std::vector<LetterStatus> statuses = {};
  /// Part of the error, in any case of letters.
  std::optional<std::string> error = std::nullopt;
  /// Finished, or if it is not finished, last rejected at least so long ago.
  std::chrono::seconds older_than{0};
};

/// The matching letters, the most recently rejected first, at most `limit`. Scans the table.
std::vector<LetterRow> list_letters(Session& session, const LetterFilter& filter,
                                    std::size_t limit);

/// The numbers of all matching letters, the oldest first.
std::vector<std::int64_t> letter_ids(Session& session, const LetterFilter& filter);

/// The payload of a letter; empty: it has none, or there is no such letter.
Bytes read_letter_payload(Session& session, std::int64_t id);

/// The owner of a lease.
struct ReplayLease {
  /// Random and unique to a process (store::process_name).
  std::string owner;
  std::chrono::seconds duration = std::chrono::minutes(5);
};

/// Leases a letter of the indexer that is dead, or whose lease has expired. Nothing: it is
/// finished, another process has leased it, it is a consumer's, or there is no such letter.
std::optional<LetterRow> lease_letter(Session& session, std::int64_t id, const ReplayLease& lease);

/// Ends a lease: the letter is resolved. False, as in the following functions: the owner does not
/// lease the letter any more, and nothing changed.
bool resolve_replay(Session& session, std::int64_t id, const std::string& owner,
                    std::string_view note);
/// Ends a lease: the letter is dead again, with one more attempt and this error.
bool fail_replay(Session& session, std::int64_t id, const std::string& owner,
                 std::string_view error, std::string_view sqlstate);
/// Ends a lease: the letter is dead as before it.
bool release_replay(Session& session, std::int64_t id, const std::string& owner);

/// Hands a consumer's letter that is dead, or whose lease has expired, to its consumer
/// (consumer_letters.hpp). False: it is in another status, or it is the indexer's.
bool request_replay(Session& session, std::int64_t id);

/// Resolves or discards the matching letters that are not finished, except those of a lease that
/// has not expired. Returns their numbers.
std::vector<std::int64_t> resolve_letters(Session& session, const LetterFilter& filter,
                                          std::string_view note);
std::vector<std::int64_t> discard_letters(Session& session, const LetterFilter& filter,
                                          std::string_view note);

/// Why `resolve_letters` or `discard_letters` left a letter out, for people.
std::string unfinished_reason(Session& session, std::int64_t id);

/// Deletes the matching letters, except those of a lease that has not expired. Returns how many.
std::size_t purge_letters(Session& session, const LetterFilter& filter);

/// How long a finished letter stays.
inline constexpr std::chrono::days kFinishedLettersStay{30};

/// Deletes letters that were finished so long ago. With an index; for regular calls. Returns how
/// many.
std::size_t purge_finished_letters(Session& session,
                                   std::chrono::seconds stay = kFinishedLettersStay);

}  // namespace skua::store
