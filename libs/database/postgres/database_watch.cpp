#include "postgres/database_watch.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace skua::postgres {
namespace {

DatabaseChange groups_change() {
  return {.text = "its groups of accounts are others", .is_of_groups = true};
}

/// Describes how one database differs from the other, or is an older state of the other. Returns
/// nothing if there is no visible difference. Unknown values are not compared.
std::optional<DatabaseChange> difference(const DatabaseIdentity& known,
                                         const DatabaseIdentity& found,
                                         std::optional<std::int64_t> flushed) {
  const auto differs = [](const auto& one, const auto& other) {
    return one && other && *one != *other;
  };
  if (differs(known.system, found.system)) {
    return DatabaseChange{
        fmt::format("another cluster answers (system identifier {}, and it was {})", *found.system,
                    *known.system)};
  }
  if (known.oid != found.oid || differs(known.token, found.token)) {
    return DatabaseChange{"the database was dropped and created again"};
  }
  if (differs(known.timeline, found.timeline)) {
    return DatabaseChange{
        fmt::format("a standby was promoted, or an archive restored (timeline {}, and it was {})",
                    *found.timeline, *known.timeline)};
  }
  if (flushed && found.wal_end && *found.wal_end < *flushed) {
    return DatabaseChange{
        fmt::format("it is an older state of itself (its WAL ends {} bytes before what was on "
                    "disk)",
                    *flushed - *found.wal_end)};
  }
  if (differs(known.groups_version, found.groups_version)) return groups_change();
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> DatabaseWatch::flushed(const std::string& url) const {
  const std::scoped_lock lock(mutex_);
  const auto place = known_.find(url);
  return place == known_.end() ? std::nullopt : place->second.flushed;
}

void DatabaseWatch::connected(const std::string& url, const DatabaseIdentity& found,
                              std::optional<std::int64_t> flushed) {
  const std::scoped_lock lock(mutex_);
  Known& known = known_[url];
  if (known.change) throw DatabaseChanged(*known.change);
  if (found.in_recovery) {
    if (!known.was_primary) return;
    throw ServerError(std::string(kWaitsForPromotion), "57P03");
  }
  known.was_primary = true;
  if (known.identity) known.change = difference(*known.identity, found, flushed);
  if (known.change) throw DatabaseChanged(*known.change);
  known.flushed = std::max(known.flushed, found.wal_flushed);
  if (!known.identity) known.identity = found;
  // The first session may be older than the migration that created the token.
  if (!known.identity->token) known.identity->token = found.token;
  if (!known.identity->groups_version) known.identity->groups_version = found.groups_version;
}

void DatabaseWatch::note_flushed(const std::string& url, std::int64_t position) {
  const std::scoped_lock lock(mutex_);
  Known& known = known_[url];
  if (!known.change) known.flushed = std::max(known.flushed, std::optional(position));
}

void DatabaseWatch::groups_changed(const std::string& url) {
  const std::scoped_lock lock(mutex_);
  Known& known = known_[url];
  if (!known.change) known.change = groups_change();
  throw DatabaseChanged(*known.change);
}

std::optional<std::string> DatabaseWatch::change(const std::string& url) const {
  const std::scoped_lock lock(mutex_);
  const auto place = known_.find(url);
  if (place == known_.end() || !place->second.change) return std::nullopt;
  return place->second.change->text;
}

void DatabaseWatch::forget(const std::string& url) {
  const std::scoped_lock lock(mutex_);
  const auto place = known_.find(url);
  if (place == known_.end()) return;
  const bool was_primary = place->second.was_primary;
  place->second = {};
  place->second.was_primary = was_primary;
}

DatabaseWatch& database_watch() {
  static DatabaseWatch watch;
  return watch;
}

}  // namespace skua::postgres
