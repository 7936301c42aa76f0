#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atproto/repository_head.hpp"
#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// What `skua.repositories` says of a repository that messages are checked against.
struct RepositoryRow {
  std::string did;
  /// Nothing: no message of it was verified yet.
  std::optional<atproto::RepositoryHead> head;
  /// Whether the commits of the account count: false while it is taken down or suspended.
  bool active = true;
  /// It waits for a resync for a reason that changes since a revision do not mend: all of it is
  /// wanted.
  bool wants_whole = false;
};

/// The rows of those DIDs that have one, in no order. Throws SqlError, as all here.
std::vector<RepositoryRow> load_repositories(Session& session, std::span<const std::string> dids);

/// The result of the messages about one repository since it was last saved.
struct RepositoryProgress {
  RepositoryRow row;
  /// Messages that did not follow the one before them.
  std::int32_t breaks = 0;
  /// The revision of the last of those, or of the first message that was seen at all.
  std::optional<atproto::Tid> anchor = std::nullopt;
  /// The first message that was seen at all was about a repository that was empty before: with it
  /// the repository is complete, unless rows from before the anchor are stored.
  bool is_born = false;
};

/// Which repositories a break makes wait for a resync: those whose history was brought in, or all.
/// The others have holes anyway: they are followed from the break on.
enum class Resync : std::uint8_t { Complete, All };

/// Writes progress, in the caller's transaction; heads never go back. One item a DID, sorted by
/// DID.
void save_repositories(Session& session, std::span<const RepositoryProgress> progress,
                       Resync resync, Timestamp now);

/// Frames of these repositories were dropped before they were read. Each repository waits for a
/// resync from `now` on, even if it was never complete; waiting ones continue to wait. In the
/// caller's transaction; sorted.
void desynchronize(Session& session, std::span<const std::string> dids, Timestamp now);

/// How long a repository waits after its nth failed resync, n from 1: from a minute on twice as
/// long each time, a day at most.
std::chrono::seconds resync_delay(int attempts);

/// Takes up to `limit` repositories whose resync is due, those first that wait longest, and lends
/// them: until `now + lease` nobody else gets them, unless their resync fails or is done before.
std::vector<std::string> take_due_resyncs(Session& session, Timestamp now,
                                          std::chrono::seconds lease, std::size_t limit);

/// Asks for a resync of a repository at once, whatever its state.
void ask_for_resync(Session& session, const std::string& did, Timestamp now);

/// A resync failed: it is tried again after `resync_delay`.
void resync_failed(Session& session, const std::string& did, const std::string& error,
                   Timestamp now);

/// A resync brought the whole repository as of `head`. Part of the transaction that wrote the last
/// of it, so that it is never ahead of the rows. False: a message after `head` followed nothing
/// that is known, so that something between them is missing; the repository waits for a resync, due
/// now.
bool resync_done(Session& session, const std::string& did, const atproto::RepositoryHead& head,
                 Timestamp now);

/// A repository that was brought in whole as of `head`.
struct WholeRepository {
  std::string did;
  atproto::RepositoryHead head;
  /// The filter's version as of which it was asked for (FilterState::settled). One from before it
  /// let more collections through says nothing of these: the repository waits for a resync.
  std::int64_t filter_version = 0;
};

/// The same for many, sorted by DID. Returns those for which it would be false.
std::vector<std::string> resyncs_done(Session& session, std::span<const WholeRepository> whole,
                                      Timestamp now);

}  // namespace skua::store
