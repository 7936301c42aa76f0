#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "repo/car_reader.hpp"
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

}  // namespace skua::repo
