#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "postgres/session.hpp"

namespace skua::postgres {

/// The identity of a session's database, as the server reports it. A member is empty if this role
/// may not read it or the server does not provide it.
struct DatabaseIdentity {
  /// The cluster's identifier, chosen when it was created.
  std::optional<std::string> system = std::nullopt;
  /// Changes when a standby is promoted, and when an archive is restored.
  std::optional<std::string> timeline = std::nullopt;
  /// The database's number in its cluster.
  std::string oid;
  /// skua.database_token.
  std::optional<std::string> token = std::nullopt;
  /// A standby, which replays the WAL of another server.
  bool in_recovery = false;
  /// The end of the WAL, in bytes.
  std::optional<std::int64_t> wal_end = std::nullopt;
  /// The end of the WAL part that is on disk.
  std::optional<std::int64_t> wal_flushed = std::nullopt;
};

/// The address now leads to another database, or to an older state of it. Data in this process
/// (account numbers, heads, durable positions) may be wrong.
class DatabaseChanged : public ServerError {
 public:
  explicit DatabaseChanged(const std::string& what) : ServerError(what, "") {}
};

/// The server is a standby, and the previous server at its address was a primary.
inline constexpr std::string_view kWaitsForPromotion =
    "the server is a standby in recovery, it is waited for until it is promoted";

/// Detects that an address leads to another database. It compares the identity of each new session
/// with that of the first one. Any thread.
class DatabaseWatch {
 public:
  /// The highest WAL position known to be on disk for this database. Read it before a session
  /// connects, because other sessions may report more meanwhile.
  std::optional<std::int64_t> flushed(const std::string& url) const;

  /// A session connected. `flushed` is the value that its caller read before. Throws
  /// DatabaseChanged if the database is another one, on this call and on all later calls;
  /// ServerError (57P03) if the server is a standby and the previous server was a primary.
  void connected(const std::string& url, const DatabaseIdentity& found,
                 std::optional<std::int64_t> flushed);
  /// The same database has flushed its WAL up to this position.
  void note_flushed(const std::string& url, std::int64_t position);

  /// How the database differs from the first one; nothing while it is the same.
  std::optional<std::string> change(const std::string& url) const;

  /// Discards all knowledge of the database: the next server that answers is accepted, unless it is
  /// a standby.
  void forget(const std::string& url);

 private:
  struct Known {
    std::optional<DatabaseIdentity> identity;
    std::optional<std::int64_t> flushed;
    std::optional<std::string> change;
    bool was_primary = false;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;
};

/// The instance of this process; all sessions use it.
DatabaseWatch& database_watch();

}  // namespace skua::postgres
