#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace skua::backfill {

/// What the jobs of this process did since it started. Any thread; each only grows, except the last
/// two.
struct BackfillCounters {
  std::atomic<std::uint64_t> bytes{0};
  /// Repositories that were finished, and rows that were deleted because their CARs do not contain
  /// them.
  std::atomic<std::uint64_t> finished{0};
  std::atomic<std::uint64_t> removed{0};
  /// Attempts.
  std::atomic<std::uint64_t> failed{0};
  /// Jobs that are not tried again.
  std::atomic<std::uint64_t> abandoned{0};
  std::atomic<std::uint64_t> unavailable{0};
  std::atomic<std::uint64_t> postponed{0};
  /// The size of the CARs that are in memory or mapped now, including the received part of active
  /// downloads.
  std::atomic<std::size_t> held_bytes{0};
  /// Jobs that were leased and have not ended.
  std::atomic<std::size_t> open_jobs{0};
};

}  // namespace skua::backfill
