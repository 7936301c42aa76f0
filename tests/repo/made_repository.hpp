#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "repo/car.hpp"
#include "repo/mst_tree.hpp"

namespace skua::repo::test_cases {

using Entries = std::vector<std::pair<std::string, atproto::Cid>>;

/// A repository path that looks like the network's, different for each number.
std::string path_of(std::uint32_t number);

/// `count` entries in key order, the same for the same seed.
Entries made_entries(std::uint32_t seed, std::size_t count);

/// The blocks as readers want them: views, which last as long as the blocks.
BlockMap view_of(const OwnedBlocks& blocks);

/// The CAR of a repository with these many records, signed by a throw-away key.
Bytes made_repository(std::uint32_t seed, std::size_t records);

}  // namespace skua::repo::test_cases
