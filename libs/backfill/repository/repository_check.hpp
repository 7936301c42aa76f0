#pragma once

#include <optional>
#include <string>

#include "backfill/repository/fetched_repository.hpp"
#include "base/time.hpp"
#include "repo/repository_listing.hpp"

namespace skua::backfill {

struct RepositoryCheck {
  /// Views the CAR. Nothing: the CAR cannot be used.
  std::optional<repo::RepositoryListing> listing = std::nullopt;
  /// Why not, for people.
  std::string failure = {};
  /// Only the signature does not match the document, which may be out of date.
  bool has_other_key = false;
};

/// Checks a whole CAR before any of it is written: the hash of each block, the tree, the account
/// and the time of the commit, its signature (if the document is known), and that it is not older
/// than the stored head. Takes seconds for a large one.
RepositoryCheck check_repository(const FetchedRepository& fetched, Timestamp now);

}  // namespace skua::backfill
