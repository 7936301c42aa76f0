#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atproto/repository_state.hpp"
#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

/// The columns of `skua.repositories` that messages are checked against.
struct RepositoryRow {
  std::string did;
  /// Nothing: no message of this repository was verified yet.
  std::optional<atproto::RepositoryHead> head;
  /// Whether commits of the account are accepted: false while it is taken down or suspended.
  bool active = true;
  /// The account is hidden since this time (bsky.actors.status_time). Nothing: it is not hidden.
  std::optional<Timestamp> hidden_since = std::nullopt;
  /// It waits for a resync, and the changes since a revision are not enough: the whole repository
  /// must be downloaded.
  bool wants_whole = false;
};

/// The rows of these DIDs, as far as they exist, in any order. Throws SqlError, as all functions
/// here.
std::vector<RepositoryRow> load_repositories(postgres::Session& session,
                                             std::span<const std::string> dids);

/// The result of the messages about one repository since the last save.
struct RepositoryProgress {
  RepositoryRow row;
  /// Messages that did not follow the previous one.
  std::int32_t breaks = 0;
  /// The revision of the last break, or of the first message.
  std::optional<atproto::Tid> anchor = std::nullopt;
  /// The revision of the first message, if it created the repository. The repository is therefore
  /// complete, unless rows from before this revision are stored.
  std::optional<atproto::Tid> born = std::nullopt;
};

/// Which repositories need a resync after a break: only complete ones, or all. The others have gaps
/// anyway, so indexing continues after the break.
enum class Resync : std::uint8_t { Complete, All };

/// Writes progress, in the caller's transaction. Heads never move backwards. One item for each DID,
/// sorted by DID.
void save_repositories(postgres::Session& session, std::span<const RepositoryProgress> progress,
                       Resync resync, Timestamp now);

/// What the stream said about a repository was not applied in full.
struct Gap {
  std::string did;
  /// The revision of the newest commit that was not applied in full; nothing: it was no commit, or
  /// the revision is unknown.
  std::optional<atproto::Tid> rev = std::nullopt;
};

/// Each of these repositories waits for a resync from `now` on, even if it was never complete;
/// waiting ones continue to wait. The resync must reach the revision of the gap. In the caller's
/// transaction; one item for each DID, sorted by DID.
void desynchronize(postgres::Session& session, std::span<const Gap> gaps, Timestamp now);

/// How long a repository waits after its nth failed resync, n from 1: one minute, doubled each
/// time, at most a day.
std::chrono::seconds resync_delay(int attempts);

/// A repository whose resync is due.
struct DueResync {
  std::string did;
  /// The origin of the account's host; empty: it is not known.
  std::string host;
  /// A Gap is the reason, and not a break.
  bool has_gap = false;
};

/// Leases up to `limit` repositories whose resync is due, those that have waited longest first.
/// Until `now + lease` no other caller gets them, unless their resync fails or is done before.
std::vector<DueResync> take_due_resyncs(postgres::Session& session, Timestamp now,
                                        std::chrono::seconds lease, std::size_t limit);

/// A leased resync that starts later.
struct PostponedResync {
  std::string did;
  Timestamp until;
  /// It has a reserved part of its host's share: `DueResync::has_gap` is false next time.
  bool is_reserved = false;
};

/// These resyncs are due at another time. One item for each DID.
void postpone_resyncs(postgres::Session& session, std::span<const PostponedResync> postponed);

/// Requests a resync of a repository at once, whatever its state.
void ask_for_resync(postgres::Session& session, const std::string& did, Timestamp now);

/// A resync failed: it is retried after `resync_delay`.
void resync_failed(postgres::Session& session, const std::string& did, const std::string& error,
                   Timestamp now);

/// The account was deleted and nothing of its repository is stored: it no longer waits for a
/// resync.
void resync_of_deleted_done(postgres::Session& session, const std::string& did);

/// A resync stored the whole repository as of `head`. Call it in the transaction that writes the
/// last rows, so that the state is never ahead of the rows. False: a message after `head` has an
/// unknown predecessor, so messages in between are missing; the repository waits for a resync, due
/// now.
bool resync_done(postgres::Session& session, const std::string& did,
                 const atproto::RepositoryHead& head, Timestamp now);

/// A repository that was stored completely as of `head`.
struct WholeRepository {
  std::string did;
  atproto::RepositoryHead head;
  /// The filter's version for which it was requested (FilterState::settled). If the filter admitted
  /// more collections after that version, the repository lacks them and waits for a resync.
  std::int64_t filter_version = 0;
};

/// `resync_done` for many repositories, sorted by DID. Returns those for which it would return
/// false.
std::vector<std::string> resyncs_done(postgres::Session& session,
                                      std::span<const WholeRepository> whole, Timestamp now);

}  // namespace skua::tables
