#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"

namespace skua::repo {

/// A CAR that is one whole repository, as getRepo sends it. Views into the CAR.
struct Repository {
  Commit commit;
  LoadedCar car;
};

/// Reads the CAR of a repository (atproto.com/specs/repository#car-file-serialization) and checks
/// the hash of each block. Its first root must be a commit among its blocks: any other well-formed
/// CAR is `car_not_a_repository`. Further roots are ignored. The tree is not walked, see
/// `walk_mst`; the signature is not checked.
Result<Repository> open_repository(ByteView car);

/// A record of a listing. Views into the listing and its CAR.
struct ListedRecord {
  std::string_view path;
  atproto::Cid cid;
  ByteView block;
};

/// The records of a repository's CAR in key order, checked, to be read as often as wanted and in
/// any order. Beside the CAR it takes 16 bytes and the path for each record; another 16 a block
/// while it is being opened.
///
/// Views the CAR, which must outlive it and stay where it is. Never changes: many threads may read
/// it.
class RepositoryListing {
 public:
  /// How much of the repository a CAR is expected to hold. Whole: every node of the tree and every
  /// record. Since: what getRepo sends when it is asked with `since`; nodes and records that are
  /// missing are those that did not change.
  enum class Extent : std::uint8_t { Whole, Since };

  /// Reads a CAR as `open_repository` does and walks its tree as `walk_mst` does; the signature is
  /// not checked. Blocks that no entry names are tolerated, and so are a few
  /// duplicates (BlockIndex::kDuplicatesAllowed). A commit of
  /// version 2 is taken: then it has no `rev`. Errors: those of both, mst_missing_node and
  /// record_missing when the whole was expected, mst_too_large also for paths that are longer in
  /// all than four times the CAR.
  static Result<RepositoryListing> open(ByteView car, Extent extent = Extent::Whole);

  const Commit& commit() const { return commit_; }

  /// Records that are listed: those whose block is there.
  std::size_t size() const { return places_.size(); }
  /// Records that cannot be listed, because the tree names them by a CID with another codec or hash
  /// than those of repositories.
  std::size_t unreadable() const { return unreadable_; }
  ListedRecord at(std::size_t i) const;
  /// Its path alone, without a look at the CAR.
  std::string_view path(std::size_t i) const;

  /// Whether records that are not listed may lie between record `i - 1` and record `i`, before the
  /// first (0) or after the last (`size()`). Never so in a whole repository.
  bool has_gap_before(std::size_t i) const { return gaps_[i]; }

 private:
  class Lister;

  /// Where a record lies.
  struct Place {
    std::size_t section;   // of its block, in the CAR
    std::size_t path_end;  // in `paths_`; it begins where the one before ends
  };

  RepositoryListing(ByteView car, const Commit& commit) : car_(car), commit_(commit) {}

  ByteView car_;
  Commit commit_;
  std::vector<Place> places_;
  std::size_t unreadable_ = 0;
  std::string paths_;
  std::vector<bool> raw_;   // whether the tree says so of the record's codec
  std::vector<bool> gaps_;  // see has_gap_before
};

}  // namespace skua::repo
