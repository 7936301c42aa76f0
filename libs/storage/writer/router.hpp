#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "event/unresolved_event.hpp"

namespace skua::writer {

/// The workers are 2 sources x 5 record types x 3 workers.
inline constexpr std::size_t kWorkersPerLane = 3;
inline constexpr std::size_t kLanes = 10;
inline constexpr std::size_t kWorkers = kLanes * kWorkersPerLane;

/// Returns the hash that assigns a DID to one decode thread, and to one worker of each lane. The
/// hash function is fixed (FNV-1a), so that a worker's number in an old log line means the same
/// accounts today.
constexpr std::uint64_t path_hash(std::string_view did) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : did) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  // The low bits choose the worker, and the low bits of FNV are weak.
  return hash ^ (hash >> 32);
}

constexpr std::size_t lane_index(event::Lane lane) {
  return static_cast<std::size_t>(lane.source) * 5 + static_cast<std::size_t>(lane.type);
}

/// Returns the number of the worker, of 30, that takes the events of this DID in this lane. It is
/// always the same worker.
constexpr std::size_t worker_index(event::Lane lane, std::string_view did) {
  return lane_index(lane) * kWorkersPerLane +
         static_cast<std::size_t>(path_hash(did) % kWorkersPerLane);
}

}  // namespace skua::writer
