#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "verify/errc.hpp"

namespace skua::ingest {

/// Counts incoming messages since the start of the process. Any thread. All values grow, except the
/// newest time and the numbers of waiting messages.
struct IntakeCounters {
  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::uint64_t> ops{0};
  std::atomic<std::uint64_t> syncs{0};
  std::atomic<std::uint64_t> identities{0};
  std::atomic<std::uint64_t> accounts{0};
  std::atomic<std::uint64_t> labels{0};
  std::atomic<std::uint64_t> infos{0};
  std::atomic<std::uint64_t> errors{0};
  std::atomic<std::uint64_t> unknown{0};     // of an unknown type, or labels with an unknown field
  std::atomic<std::uint64_t> bad_frames{0};  // whole messages that became dead letters
  std::atomic<std::uint64_t> bad_ops{0};     // operations that became dead letters
  std::atomic<std::uint64_t> unforeseen{
      0};  // of bad_frames: because of an exception (guard_message)
  /// Records of JSON sources whose hash is not their CID: the conversion to JSON lost information.
  std::atomic<std::uint64_t> altered{0};
  /// Records, and whole messages, that the filter excludes.
  std::atomic<std::uint64_t> filtered{0};
  std::atomic<std::uint64_t> filtered_messages{0};
  std::atomic<std::int64_t> newest_time_us{0};

  // Verification.
  std::atomic<std::uint64_t> verified{0};     // commits, #syncs and labels that passed
  std::atomic<std::uint64_t> broke{0};        // of these: did not follow the known head
  std::atomic<std::uint64_t> former_keys{0};  // of these: signed by a former key
  /// Dropped, by verify::errc: index 0 is errc 1.
  std::array<std::atomic<std::uint64_t>, verify::kReasons> dropped{};
  std::atomic<std::uint64_t> stale_accounts{0};  // #account dropped: the host states another status
  std::atomic<std::uint64_t> unsettled_accounts{0};  // #account whose host could not be asked
  /// Accounts with parked frames now.
  std::atomic<std::uint64_t> accounts_waiting{0};
  /// Messages that FutureGate holds now.
  std::atomic<std::uint64_t> frames_held{0};

  void drop(verify::errc reason) { dropped.at(static_cast<std::size_t>(reason) - 1) += 1; }
};

}  // namespace skua::ingest
