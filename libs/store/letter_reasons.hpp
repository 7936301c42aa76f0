#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// Dead letters that nobody has handled, with the same reason.
struct LetterReason {
  std::int64_t count = 0;
  std::string reason;
  /// Of the last rejection.
  Timestamp last_at{};
};

struct LetterReasons {
  /// All such letters, also those of other reasons.
  std::int64_t all = 0;
  /// The most frequent first.
  std::vector<LetterReason> reasons;
};

/// At most `limit` reasons (`skua.dead_letter_errors`). Scans the table. Throws SqlError.
LetterReasons read_letter_reasons(Session& session, std::size_t limit);

}  // namespace skua::store
