#pragma once

#include <atomic>
#include <cstdint>

namespace skua::writer {

/// Counters of the writer since the start of the process. Any thread; they only grow.
struct Counters {
  std::atomic<std::uint64_t> events{0};        // taken by workers and finished
  std::atomic<std::uint64_t> rows{0};          // rows inserted, changed or deleted
  std::atomic<std::uint64_t> transactions{0};  // committed
  std::atomic<std::uint64_t> unchanged{
      0};  // events that the rev guard, a tombstone or the floor held back
  std::atomic<std::uint64_t> dead_letters{0};
  std::atomic<std::uint64_t> set_aside{0};  // events that waited for a busy account
  std::atomic<std::uint64_t> retries{0};    // transactions that a failure of the server undid
  std::atomic<std::uint64_t> nuls_removed{0};
  /// Records whose blocks have another form than DAG-CBOR's: indexed as any other.
  std::atomic<std::uint64_t> not_canonical{0};
};

}  // namespace skua::writer
