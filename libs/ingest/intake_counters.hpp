#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "verify/errc.hpp"

namespace skua::ingest {

/// What came in since the process started. Any thread; each figure only grows, but for the newest
/// time and what waits.
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
  std::atomic<std::uint64_t> unknown{0};     // of a type, or labels with a field, not known here
  std::atomic<std::uint64_t> bad_frames{0};  // dead-lettered whole
  std::atomic<std::uint64_t> bad_ops{0};     // dead-lettered alone
  std::atomic<std::uint64_t> unforeseen{
      0};  // of bad_frames: because of an exception (guard_message)
  /// Records of JSON sources that do not hash to the CID they came with: JSON has lost something.
  std::atomic<std::uint64_t> altered{0};
  /// What the filter leaves out: records, and whole messages of accounts that do not pass.
  std::atomic<std::uint64_t> filtered{0};
  std::atomic<std::uint64_t> filtered_messages{0};
  std::atomic<std::int64_t> newest_time_us{0};

  // Verification.
  std::atomic<std::uint64_t> verified{0};     // commits, #syncs and labels that passed
  std::atomic<std::uint64_t> broke{0};        // of these: did not follow what was known
  std::atomic<std::uint64_t> former_keys{0};  // of these: by a key that was changed since
  /// Dropped, by verify::errc: index 0 is errc 1.
  std::array<std::atomic<std::uint64_t>, verify::kReasons> dropped{};
  std::atomic<std::uint64_t> stale_accounts{0};  // #account dropped: the account's host denies it
  std::atomic<std::uint64_t> unsettled_accounts{0};  // #account whose host could not be asked
  /// Accounts whose frames wait for an answer at this moment.
  std::atomic<std::uint64_t> accounts_waiting{0};
  /// Messages that are held at this moment because our clock seems to be wrong (FutureGate).
  std::atomic<std::uint64_t> frames_held{0};

  void drop(verify::errc reason) { dropped.at(static_cast<std::size_t>(reason) - 1) += 1; }
};

}  // namespace skua::ingest
