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

/// The columns of `skua.repositories` that the checks of messages need.
struct RepositoryRow {
  std::string did;
  /// Nothing if no message of this repository was verified yet.
  std::optional<atproto::RepositoryHead> head;
  /// Whether commits of the account are accepted. False while the account is taken down or
  /// suspended.
  bool active = true;
  /// The time since which the account is hidden (bsky.actors.status_time), or nothing if it is not
  /// hidden.
  std::optional<Timestamp> hidden_since = std::nullopt;
  /// Whether the repository waits for a resync for which the changes since a revision are not
  /// enough, so that the whole repository must be downloaded.
  bool wants_whole = false;
};

/// Returns the existing rows of these DIDs, in any order. All functions below throw SqlError.
std::vector<RepositoryRow> load_repositories(postgres::Session& session,
                                             std::span<const std::string> dids);

/// The result of the messages about one repository since the last save.
struct RepositoryProgress {
  RepositoryRow row;
  /// The number of messages that did not follow the previous one.
  std::int32_t breaks = 0;
  /// The revision of the last break, or of the first message.
  std::optional<atproto::Tid> anchor = std::nullopt;
  /// The revision of the first message, if that message created the repository. The repository is
  /// then complete, unless rows from before this revision are stored.
  std::optional<atproto::Tid> born = std::nullopt;
};

/// Selects the repositories that need a resync after a break: only complete ones, or all.
/// Incomplete repositories have gaps anyway, so indexing continues after the break.
enum class Resync : std::uint8_t { Complete, All };

/// Writes progress, in the caller's transaction. Heads never move backwards. `progress` has one
/// item for each DID and is sorted by DID.
void save_repositories(postgres::Session& session, std::span<const RepositoryProgress> progress,
                       Resync resync, Timestamp now);

/// A message about a repository that was not applied in full.
struct Gap {
  std::string did;
  /// The revision of the newest commit that was not applied in full. Nothing if the message was not
  /// a commit, or if the revision is unknown.
  std::optional<atproto::Tid> rev = std::nullopt;
};

/// Makes each of these repositories wait for a resync from `now` on, even if it was never complete.
/// Repositories that wait already continue to wait. The resync must reach the revision of the gap.
/// Runs in the caller's transaction. `gaps` has one item for each DID and is sorted by DID.
void desynchronize(postgres::Session& session, std::span<const Gap> gaps, Timestamp now);

/// Returns the time that a repository waits after its nth failed resync, where n counts from 1: one
/// minute, doubled each time, at most a day.
std::chrono::seconds resync_delay(int attempts);

/// A repository whose resync is due.
struct DueResync {
  std::string did;
  /// The origin of the account's host. Empty if it is unknown.
  std::string host;
  /// Whether the reason is a Gap and not a break.
  bool has_gap = false;
};

/// Leases up to `limit` repositories whose resync is due. The longest waits come first.
/// Until `now + lease` no other caller gets them, unless their resync fails or is done before.
std::vector<DueResync> take_due_resyncs(postgres::Session& session, Timestamp now,
                                        std::chrono::seconds lease, std::size_t limit);

/// A leased resync that starts later.
struct PostponedResync {
  std::string did;
  Timestamp until;
  /// Whether the resync has a reserved part of its host's share, so that the next
  /// `DueResync::has_gap` is false.
  bool is_reserved = false;
};

/// Makes these resyncs due at another time. `postponed` has one item for each DID.
void postpone_resyncs(postgres::Session& session, std::span<const PostponedResync> postponed);

/// Requests a resync of a repository at once, whatever the state of the repository.
void ask_for_resync(postgres::Session& session, const std::string& did, Timestamp now);

/// Notes that a resync failed. The resync is retried after `resync_delay`.
void resync_failed(postgres::Session& session, const std::string& did, const std::string& error,
                   Timestamp now);

/// Notes that the account was deleted and nothing of its repository is stored, so that the
/// repository no longer waits for a resync.
void resync_of_deleted_done(postgres::Session& session, const std::string& did);

/// Notes that a resync stored the whole repository as of `head`. Call this function in the
/// transaction that writes the last rows, so that the state is never ahead of the rows. Returns
/// false if a message after `head` has an unknown predecessor. Then messages in between are
/// missing, and the repository waits for a resync that is due now.
bool resync_done(postgres::Session& session, const std::string& did,
                 const atproto::RepositoryHead& head, Timestamp now);

/// A repository that was stored completely as of `head`.
struct WholeRepository {
  std::string did;
  atproto::RepositoryHead head;
  /// The filter's version for which the repository was requested (FilterState::settled). If the
  /// filter passed more collections after that version, the repository lacks them and waits for a
  /// resync.
  std::int64_t filter_version = 0;
};

/// Calls `resync_done` for many repositories, sorted by DID. Returns the repositories for which
/// `resync_done` would return false.
std::vector<std::string> resyncs_done(postgres::Session& session,
                                      std::span<const WholeRepository> whole, Timestamp now);

}  // namespace skua::tables
