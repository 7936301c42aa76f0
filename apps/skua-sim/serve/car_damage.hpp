#pragma once

#include <cstddef>

#include "base/bytes.hpp"

namespace skua::sim {

// Repositories as a faulty host sends them. The first block, the commit, is not counted: the result
// is always a CAR with the right root.

/// The number of blocks that can be damaged.
std::size_t count_blocks(ByteView car);
/// The CAR without one of them.
Bytes without_block(ByteView car, std::size_t index);
/// The CAR with the byte in the middle of one of them changed.
Bytes with_bad_block(ByteView car, std::size_t index);

}  // namespace skua::sim
