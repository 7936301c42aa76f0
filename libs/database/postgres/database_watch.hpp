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
/// may not read the value or the server does not provide it.
struct DatabaseIdentity {
  /// The identifier of the cluster, chosen when the cluster was created.
  std::optional<std::string> system = std::nullopt;
  /// The timeline changes when a standby is promoted, and when an archive is restored.
  std::optional<std::string> timeline = std::nullopt;
  /// The database's number in its cluster.
  std::string oid;
  /// The content of skua.database_token.
  std::optional<std::string> token = std::nullopt;
  /// Counts the changes of the groups of accounts that the database owns.
  std::optional<std::int64_t> groups_version = std::nullopt;
  /// Whether the server is a standby, which replays the WAL of another server.
  bool in_recovery = false;
  /// The end of the WAL, in bytes.
  std::optional<std::int64_t> wal_end = std::nullopt;
  /// The end of the WAL part that is on disk.
  std::optional<std::int64_t> wal_flushed = std::nullopt;
};

/// A difference between a database and the one that answered before.
struct DatabaseChange {
  std::string text;
  /// Whether only the groups of accounts differ, so that the database has lost no rows.
  bool is_of_groups = false;
};

/// The address now leads to another database, or to an older state of the database, or the groups
/// of accounts of the database have changed. Data in this process (account numbers, heads, durable
/// positions) may be wrong.
class DatabaseChanged : public ServerError {
 public:
  explicit DatabaseChanged(const DatabaseChange& change)
      : ServerError("the database has changed: " + change.text, ""),
        is_of_groups_(change.is_of_groups) {}

  bool is_of_groups() const { return is_of_groups_; }

 private:
  bool is_of_groups_;
};

/// The text of the error while the server is a standby, and the previous server at its address was
/// a primary.
inline constexpr std::string_view kWaitsForPromotion =
    "the server is a standby in recovery, it is waited for until it is promoted";

/// Detects that an address leads to another database. Compares the identity of each new session
/// with that of the first session. Any thread.
class DatabaseWatch {
 public:
  /// Returns the highest WAL position known to be on disk for this database. Call this function
  /// before a session connects, because other sessions may report higher positions meanwhile.
  std::optional<std::int64_t> flushed(const std::string& url) const;

  /// Checks a new session. `flushed` is the value that the caller read before. Throws
  /// DatabaseChanged if the database is another one, in this call and in all later calls. Throws
  /// ServerError (57P03) if the server is a standby and the previous server was a primary.
  void connected(const std::string& url, const DatabaseIdentity& found,
                 std::optional<std::int64_t> flushed);
  /// Notes that the same database has flushed its WAL up to this position.
  void note_flushed(const std::string& url, std::int64_t position);
  /// Notes that a session noticed the change of the groups, and throws DatabaseChanged, as all
  /// later calls of `connected` do.
  [[noreturn]] void groups_changed(const std::string& url);

  /// Describes how the database differs from the first one, or returns nothing if it is the same.
  std::optional<std::string> change(const std::string& url) const;

  /// Discards all knowledge of the database. The next server that answers is accepted, unless it is
  /// a standby.
  void forget(const std::string& url);

 private:
  struct Known {
    std::optional<DatabaseIdentity> identity;
    std::optional<std::int64_t> flushed;
    std::optional<DatabaseChange> change;
    bool was_primary = false;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;
};

/// Returns the instance of this process, which all sessions use.
DatabaseWatch& database_watch();

}  // namespace skua::postgres
