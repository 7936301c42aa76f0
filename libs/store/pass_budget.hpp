#pragma once

#include <algorithm>
#include <cstdint>

namespace skua::store {

/// How much of a table a background pass may read in one round of ten seconds: 32 MB, or more if
/// the table is so large that the pass would take longer than a day. A round has its own budget.
class PassBudget {
 public:
  /// Counts a step that has read `bytes` of a table of `table_bytes`. False: the round ends.
  bool spend(std::int64_t bytes, std::int64_t table_bytes) {
    spent_ += bytes;
    return spent_ < std::max(kBytesOfRound, table_bytes / kRoundsOfDay);
  }

 private:
  static constexpr std::int64_t kBytesOfRound = 32 << 20;
  static constexpr std::int64_t kRoundsOfDay = 86'400 / 10;

  std::int64_t spent_ = 0;
};

}  // namespace skua::store
