#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "event/unresolved_event.hpp"

namespace skua::writer {

/// 2 sources x 5 record types x 3 workers.
inline constexpr std::size_t kWorkersPerLane = 3;
inline constexpr std::size_t kLanes = 10;
inline constexpr std::size_t kWorkers = kLanes * kWorkersPerLane;

/// The hash by which a DID keeps to one path: one decode thread, one worker of each lane. Fixed
/// (FNV-1a), so that a number seen today means the same account tomorrow.
constexpr std::uint64_t path_hash(std::string_view did) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : did) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  // FNV's low bits are weak, and the low bits choose.
  return hash ^ (hash >> 32);
}

constexpr std::size_t lane_index(event::Lane lane) {
  return static_cast<std::size_t>(lane.source) * 5 + static_cast<std::size_t>(lane.type);
}

/// Which of the 30 workers takes the events of this DID in this lane: always the same one.
constexpr std::size_t worker_index(event::Lane lane, std::string_view did) {
  return lane_index(lane) * kWorkersPerLane +
         static_cast<std::size_t>(path_hash(did) % kWorkersPerLane);
}

}  // namespace skua::writer
