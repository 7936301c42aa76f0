#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "backfill/backfill_counters.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "base/account_number.hpp"
#include "base/time.hpp"
#include "ids/resolver.hpp"
#include "postgres/runtime.hpp"
#include "postgres/session.hpp"
#include "repo/repository_listing.hpp"

namespace skua::backfill {

/// A repository whose CAR's records are all durable.
struct WrittenRepository {
  std::string did;
  AccountNumber actor_id = 0;
  /// The revision of the CAR, and the root of its tree.
  atproto::Tid rev;
  atproto::Cid data;
  /// The handle in the account's document. It is empty if there is none.
  std::string handle;
  /// The time at which the document was fetched. It is the epoch if the document comes from a file.
  Timestamp document_time = {};
  /// The time at which the host of the account was asked for the repository. It is the epoch if it
  /// was not asked.
  Timestamp requested_at = {};
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  /// The filter version of tables::WholeRepository.
  std::int64_t filter_version = 0;
  /// The listing, which outlives the call.
  const repo::RepositoryListing* listing = nullptr;
};

/// The result of one call.
struct Finished {
  /// The number of removed rows, which the CAR does not contain.
  std::size_t removed = 0;
  /// The DIDs of the finished repositories, sorted. A repository that is neither here nor in
  /// `stale` lost its job, because another owner leased the job, or the job was cancelled.
  std::vector<std::string> done;
  /// The accounts whose minimum revision is above the revision of the CAR, so that the CAR does not
  /// describe their current state.
  std::vector<std::string> stale;
};

/// The number of records from which a repository is finished alone, because its rows are searched
/// outside of the transactions that hold locks.
inline constexpr std::size_t kLargeRepository = 20'000;

/// The maximum difference between the clock of the relay, which gives the times of status messages,
/// and the clock of the server.
inline constexpr std::chrono::minutes kClockDifference{5};

/// Ends repositories after their last record was written. It removes rows of older revisions that
/// the CAR does not contain. It raises the minimum revision (`bsky.actors.floor_rev`) to the
/// revision of the CAR, so that no earlier event changes anything any more. It marks the repository
/// as complete and the job as done. Small repositories share one transaction with the locks of all
/// their accounts. A large repository is passed alone: the first transaction raises its minimum
/// revision, further transactions compare and remove rows, and the last one does the rest. Until
/// then the repository is marked as desynchronized, so that an interrupted job leaves a resync due.
///
/// A host provides the repositories of active accounts only. If the host was asked, and the stored
/// status of the account is `deleted` or `deactivated` and older than the request by
/// `kClockDifference`, the account becomes active. If the status is a newer `deleted`, the
/// repository is desynchronized, so that the host is asked again.
///
/// Throws postgres::SqlError, and may then be called again.
Finished finish_repositories(postgres::Session& session,
                             std::span<const WrittenRepository> repositories,
                             const std::string& lease_owner, Timestamp now);

/// Finishes repositories when their records are durable (finish_repositories), many small
/// repositories in one transaction, on a thread and a connection of its own. It retries without
/// limit after a failure of the server. It reports how each job ended
/// (UnfinishedRepository::ended).
class Finisher {
 public:
  /// `lease_owner` is the owner of the jobs. All other arguments outlive the Finisher.
  Finisher(postgres::Runtime& runtime, std::string lease_owner, UnfinishedRepositories& unfinished,
           ids::SharedIds& ids, BackfillCounters& counters);
  ~Finisher();

  /// Ends the thread. Idempotent.
  void stop();

 private:
  using Batch = std::vector<std::unique_ptr<UnfinishedRepository>>;

  void run(const std::stop_token& stop);
  void finish(std::span<const std::unique_ptr<UnfinishedRepository>> batch,
              const std::stop_token& stop);
  void finish_once(std::span<const std::unique_ptr<UnfinishedRepository>> batch);

  postgres::Runtime& runtime_;
  const std::string lease_owner_;
  UnfinishedRepositories& unfinished_;
  ids::SharedIds& ids_;
  BackfillCounters& counters_;
  std::unique_ptr<postgres::Session> session_;
  std::jthread thread_;
};

}  // namespace skua::backfill
