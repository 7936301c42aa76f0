#include "backfill/repository/repository_check.hpp"

#include <utility>

#include <fmt/format.h>

#include "atproto/signing.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::backfill {
namespace {

using Extent = repo::RepositoryListing::Extent;

/// Why the commit is refused; empty: it is right.
std::string commit_failure(const FetchedRepository& fetched, const repo::Commit& commit,
                           Timestamp now) {
  if (commit.did != fetched.job.did) {
    return fmt::format("the CAR is the repository of another account, {}", commit.did);
  }
  if (!commit.rev) {
    return "the repository is of version 2 of the format, which has no revisions: its host must "
           "bring it up to date";
  }
  if (commit.rev->time() > now + verify::kFuture) {
    return fmt::format("the repository's revision, {}, is from the future",
                       commit.rev->to_string());
  }
  if (fetched.known && *commit.rev < *fetched.known) {
    return fmt::format(
        "stale: the CAR is of revision {}, and the account is known at {} already; records that "
        "were deleted in between would come back",
        commit.rev->to_string(), fetched.known->to_string());
  }
  return {};
}

}  // namespace

RepositoryCheck check_repository(const FetchedRepository& fetched, Timestamp now) {
  auto listing = repo::RepositoryListing::open(fetched.car,
                                               fetched.is_partial ? Extent::Since : Extent::Whole);
  if (!listing) return {.failure = "the CAR cannot be used: " + listing.error().message()};
  const repo::Commit& commit = listing->commit();
  if (std::string wrong = commit_failure(fetched, commit, now); !wrong.empty()) {
    return {.failure = std::move(wrong)};
  }
  if (fetched.account) {
    if (!fetched.account->key) {
      return {.failure = "the account's document has no usable #atproto key",
              .has_other_key = true};
    }
    const auto verified = atproto::verify_signature(
        *fetched.account->key, repo::unsigned_commit_bytes(commit), commit.signature);
    if (!verified) {
      return {.failure = "the repository is not signed by its account's key: " +
                         verified.error().message(),
              .has_other_key = true};
    }
  }
  return {.listing = *std::move(listing)};
}

}  // namespace skua::backfill
