#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/guarded.hpp"
#include "store/session.hpp"

namespace skua::resolve {

/// Numbers for new accounts, drawn from the database before their rows exist, as COPY needs them.
/// Unused numbers are kept for the next call, because int4 is limited. Any thread.
class ActorNumbers {
 public:
  /// So many that nobody else has. Throws store::SqlError.
  std::vector<std::int32_t> take(store::Session& session, std::size_t count);
  /// Takes back what certainly stands in no row.
  void give_back(std::span<const std::int32_t> numbers);
  /// After a COPY with `numbers` met a row that was there: takes them back unless one of them
  /// stands in a row. Then the sequence is behind, which is mended, and all that were drawn from it
  /// are dropped: given back they would meet that row for ever. Throws store::SqlError.
  void give_back_after_conflict(store::Session& session, std::span<const std::int32_t> numbers);

 private:
  Guarded<std::vector<std::int32_t>> spare_;
};

}  // namespace skua::resolve
