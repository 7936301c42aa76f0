#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "doctor/finding.hpp"
#include "store/session.hpp"

namespace skua::doctor {

/// The size of the database, and the space of the disk with its data directory, in bytes.
struct DiskState {
  std::int64_t database = 0;
  /// Nothing: the server is on another machine, or the role may not know its data directory.
  struct Space {
    std::int64_t free = 0;
    std::int64_t total = 0;
  };
  std::optional<Space> space;
};

/// Throws store::SqlError.
DiskState read_disk(store::Session& session);

/// Pure.
Finding judge_disk(const DiskState& disk);

}  // namespace skua::doctor
