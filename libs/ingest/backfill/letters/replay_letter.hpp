#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "ids/resolver.hpp"
#include "postgres/server_clock.hpp"
#include "postgres/session.hpp"
#include "tables/dead_letters.hpp"
#include "tables/filter_table.hpp"
#include "writer/added_lexicons.hpp"

namespace skua::backfill {

/// The result of the replay of a dead letter.
enum class ReplayEnd : std::uint8_t {
  /// The letter is resolved.
  Resolved,
  /// The letter waits for its consumer.
  Requested,
  /// The letter is dead, with the new reason.
  Failed,
  /// There is no way to replay this letter, and it did not change.
  Impossible,
  /// The letter is not dead, or another process replays it. This replay did not change it.
  NotDead,
};

/// Returns a text for users: `resolved`, `failed again`.
std::string_view to_string(ReplayEnd end);

struct ReplayedLetter {
  ReplayEnd end = ReplayEnd::NotDead;
  /// The result for users.
  std::string text;
  /// The account for whose repository a job was queued.
  std::optional<std::string> resync;
};

/// The parts that a replay uses. All parts outlive the call.
struct ReplayServices {
  postgres::Session& session;
  ids::SharedIds& ids;
  /// The server's clock.
  const Clock& clock;
  writer::AddedLexicons& lexicons;
  const tables::Filter& filter;
};

/// Replays a dead letter under a lease. The kind of the letter decides what happens:
///
/// - The table writers write a record with its bytes (writer::replay_record). A job for the
///   repository is queued, too, if a later commit of the repository is known or no head is stored.
///   The reason is that a later commit may have deleted the record, and tombstones are not kept
///   that long.
/// - For a message, an operation without its block, and a payload that was cut, a job downloads the
///   repository of the account.
/// - A letter of a consumer is passed to the consumer.
/// - A letter that the filter excludes now is resolved.
/// - A label or a letter of an unknown account cannot be replayed.
///
/// Call it outside of a transaction. Throws postgres::SqlError. The letter is then dead again, or
/// its lease expires.
ReplayedLetter replay_letter(const ReplayServices& services, std::int64_t id,
                             const tables::ReplayLease& lease);

/// Replays the dead letters of one request one after another, with the filter and the clock of the
/// server at its construction. The filter may change later, so another request needs another
/// object. It uses a session of its caller, on the caller's thread.
class LetterReplays {
 public:
  /// `owner` is the owner of the leases, and is unique to the process (postgres::process_name). The
  /// session outlives the object. Throws postgres::SqlError.
  LetterReplays(postgres::Session& session, std::string owner);

  /// Calls replay_letter.
  ReplayedLetter replay(std::int64_t id);

 private:
  postgres::Session& session_;
  const tables::ReplayLease lease_;
  postgres::ServerClock clock_;
  const std::shared_ptr<const tables::Filter> filter_;
  const std::unique_ptr<ids::SharedIds> ids_;
  writer::AddedLexicons lexicons_;
};

}  // namespace skua::backfill
