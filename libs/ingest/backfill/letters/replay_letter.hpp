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

/// How the replay of a dead letter ended.
enum class ReplayEnd : std::uint8_t {
  /// The letter is resolved.
  Resolved,
  /// The letter waits for its consumer.
  Requested,
  /// The letter is dead, with the new reason.
  Failed,
  /// There is no way to replay this letter; it did not change.
  Impossible,
  /// The letter is not dead, or another process replays it; it did not change.
  NotDead,
};

/// For people: `resolved`, `failed again`.
std::string_view to_string(ReplayEnd end);

struct ReplayedLetter {
  ReplayEnd end = ReplayEnd::NotDead;
  /// For people.
  std::string text;
  /// A job for the repository of this account was queued.
  std::optional<std::string> resync;
};

/// What a replay uses. Everything outlives the call.
struct ReplayServices {
  postgres::Session& session;
  ids::SharedIds& ids;
  /// The server's clock.
  const Clock& clock;
  writer::AddedLexicons& lexicons;
  const tables::Filter& filter;
};

/// Replays a dead letter under a lease:
/// - A record with its bytes goes through the table writers (writer::replay_record). A job for the
///   repository is queued too, if a later commit of the repository is known or no head is stored: a
///   later commit may have deleted the record, and tombstones are not kept that long.
/// - For a message, an operation without its block, and a payload that was cut, a job downloads the
///   repository of the account.
/// - A letter of a consumer is handed to the consumer.
/// - A letter that the filter excludes now is resolved. A label or an unknown account cannot be
///   replayed.
/// Outside a transaction. Throws postgres::SqlError; the letter is then dead again, or its lease
/// expires.
ReplayedLetter replay_letter(const ReplayServices& services, std::int64_t id,
                             const tables::ReplayLease& lease);

/// Replays dead letters one after another, with the filter and the clock of the server at its
/// construction. For the letters of one request: the filter may change later. Uses a session of its
/// caller, on the caller's thread.
class LetterReplays {
 public:
  /// `owner`: of the leases, unique to the process (postgres::process_name). The session outlives
  /// it. Throws postgres::SqlError.
  LetterReplays(postgres::Session& session, std::string owner);

  /// See replay_letter.
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
