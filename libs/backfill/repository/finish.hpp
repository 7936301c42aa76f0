#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "repo/repository_listing.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// A repository whose records are all durable, as far as its CAR holds them.
struct WrittenRepository {
  std::string did;
  std::int32_t actor_id = 0;
  /// The CAR's revision, and the root of its tree.
  atproto::Tid rev;
  atproto::Cid data;
  /// The handle in its document; empty: none.
  std::string handle;
  /// When the document was fetched; the epoch: it comes from a file.
  Timestamp document_time = {};
  /// When the host of the account was asked for the repository; the epoch: it was not.
  Timestamp requested_at = {};
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  /// See store::WholeRepository.
  std::int64_t filter_version = 0;
  /// Outlives the call.
  const repo::RepositoryListing* listing = nullptr;
};

/// What became of the repositories of one call.
struct Finished {
  /// Rows that were stored and are not in the CAR.
  std::size_t removed = 0;
  /// Sorted. Of the others that are not stale the job was no longer the owner's: somebody else has
  /// it, or it was cancelled.
  std::vector<std::string> done;
  /// The floor is above the CAR: it says nothing about the account as it is now.
  std::vector<std::string> stale;
};

/// Repositories with more records than these are finished alone: their rows are looked through
/// outside the transactions that hold locks.
inline constexpr std::size_t kLargeRepository = 20'000;

/// How much the clock of the relay, which gives the times of status messages, may differ from that
/// of the server.
inline constexpr std::chrono::minutes kClockDifference{5};

/// Ends repositories after their last record was written. Rows of older revisions that the CAR does
/// not hold are removed; the floor (`bsky.actors.floor_rev`) is raised to the CAR's revision, so
/// that no event from before it changes anything any more; `skua.repositories` says complete; the
/// job is done. Of small repositories all that is one transaction for all of them, with the locks
/// of the accounts. A large one comes alone: its floor is raised first, in a transaction of its
/// own, then its rows are compared and removed, then the rest. In between it is marked as
/// desynchronized, so that a job that never comes to its end leaves a resync due.
///
/// A host gives out the repositories of active accounts only. If it was asked, and the stored
/// status of the account is `deleted` or `deactivated` and older than the request by
/// `kClockDifference`, the account becomes active. If the status is a newer `deleted`, the
/// repository is desynchronized, so that the host is asked again.
///
/// Throws store::SqlError; may then be called again.
Finished finish_repositories(store::Session& session,
                             std::span<const WrittenRepository> repositories,
                             const std::string& lease_owner, Timestamp now);

}  // namespace skua::backfill
