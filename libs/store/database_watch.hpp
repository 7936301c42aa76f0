#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "store/session.hpp"

namespace skua::store {

/// The server's identity of the database of a session. A member is empty if this role may not read
/// it or the server does not provide it.
struct DatabaseIdentity {
  /// Of the cluster, drawn when it was made.
  std::optional<std::string> system = std::nullopt;
  /// It changes when a standby is promoted, and when an archive is restored.
  std::optional<std::string> timeline = std::nullopt;
  /// The database's number in its cluster.
  std::string oid;
  /// skua.database_token.
  std::optional<std::string> token = std::nullopt;
  /// A standby, which follows another server.
  bool in_recovery = false;
  /// Where the WAL ends, in bytes.
  std::optional<std::int64_t> wal_end = std::nullopt;
  /// Up to where it is on disk.
  std::optional<std::int64_t> wal_flushed = std::nullopt;
};

/// The address now leads to another database, or to an older state of it. The state of this process
/// (account numbers, heads, durable positions) may be wrong.
class DatabaseChanged : public ServerError {
 public:
  explicit DatabaseChanged(const std::string& what) : ServerError(what, "") {}
};

/// Detects that an address leads to another database. It compares the identity of each new session
/// with that of the first one. Any thread.
class DatabaseWatch {
 public:
  /// Up to where the WAL of this database was on disk, as far as any session was told: asked for
  /// before a session connects, because others may be told more meanwhile.
  std::optional<std::int64_t> flushed(const std::string& url) const;

  /// A session was made, whose caller had been given `flushed` before. Throws DatabaseChanged when
  /// the database is another one, then and from then on; ServerError (57P03) when the server is a
  /// standby and the one before was none.
  void connected(const std::string& url, const DatabaseIdentity& found,
                 std::optional<std::int64_t> flushed);
  /// The same database has flushed its WAL up to there.
  void note_flushed(const std::string& url, std::int64_t position);

  /// In what way the database is another one; nothing while it is not.
  std::optional<std::string> change(const std::string& url) const;

  /// Nothing is remembered of the database any more: whichever answers next is right, if it is no
  /// standby.
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

/// The one of this process, which all sessions ask.
DatabaseWatch& database_watch();

}  // namespace skua::store
