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

/// A CAR that contains one whole repository, as getRepo sends it. Its views point into the CAR.
struct Repository {
  Commit commit;
  LoadedCar car;
};

/// Reads the CAR of a repository (atproto.com/specs/repository#car-file-serialization) and checks
/// the hash of each block. The first root of the CAR must be a commit among its blocks; any other
/// well-formed CAR is an error, `car_not_a_repository`. Further roots are ignored. Neither the tree
/// (see `walk_mst`) nor the signature is checked.
Result<Repository> open_repository(ByteView car);

/// A record of a listing. Its views point into the listing and its CAR.
struct ListedRecord {
  std::string_view path;
  atproto::Cid cid;
  ByteView block;
};

/// The checked records of a repository's CAR in key order. They can be read any number of times and
/// in any order. The listing takes 16 bytes and the path for each record, and another 16 bytes for
/// each block during `open`.
///
/// The listing views the CAR, which must outlive the listing and stay at its address. Immutable:
/// many threads may read it.
class RepositoryListing {
 public:
  /// The expected content of the CAR. Whole: every node of the tree and every record. Since: the
  /// answer of getRepo to a request with `since`, in which unchanged nodes and records are missing.
  enum class Extent : std::uint8_t { Whole, Since };

  /// Reads a CAR as `open_repository` does and walks its tree as `walk_mst` does. The signature is
  /// not checked. Blocks that no entry names and a few duplicates (BlockIndex::kDuplicatesAllowed)
  /// are tolerated. A commit of version 2 is accepted and has no `rev`. Errors: those of
  /// `open_repository` and `walk_mst`; mst_missing_node and record_missing for the extent Whole;
  /// mst_too_large also if the paths together are longer than four times the CAR.
  static Result<RepositoryListing> open(ByteView car, Extent extent = Extent::Whole);

  const Commit& commit() const { return commit_; }

  /// The number of listed records, which are the records whose block exists.
  std::size_t size() const { return places_.size(); }
  /// The number of records that cannot be listed, because the tree names them by a CID with a codec
  /// or hash that repositories do not use.
  std::size_t unreadable() const { return unreadable_; }
  ListedRecord at(std::size_t i) const;
  /// Returns the path of a record without access to the CAR.
  std::string_view path(std::size_t i) const;

  /// Whether records that are not listed may lie between record `i - 1` and record `i`, before the
  /// first record (0) or after the last one (`size()`). A whole repository has no such gaps.
  bool has_gap_before(std::size_t i) const { return gaps_[i]; }

 private:
  class Lister;

  /// The position of a record.
  struct Place {
    std::size_t section;   // the position of its block's section in the CAR
    std::size_t path_end;  // the end of the path in `paths_`
  };

  RepositoryListing(ByteView car, const Commit& commit) : car_(car), commit_(commit) {}

  ByteView car_;
  Commit commit_;
  std::vector<Place> places_;
  std::size_t unreadable_ = 0;
  std::string paths_;
  std::vector<bool> raw_;   // whether the codec of the record's CID is raw
  std::vector<bool> gaps_;  // see has_gap_before
};

}  // namespace skua::repo
