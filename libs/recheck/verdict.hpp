#pragma once

#include <optional>

#include "event/resolved_event.hpp"
#include "lexicon_store/added_checks.hpp"
#include "recheck/stored_rows.hpp"

namespace skua::recheck {

/// A stored row that the present lexicons judge differently.
struct Verdict {
  StoredRow row;
  /// The record as the present lexicons have it: typed, or with an `invalid_reason`, or neither.
  /// Not resolved.
  event::ResolvedEvent event;

  /// The row belongs into another table. Otherwise it needs another `invalid_reason`.
  bool moves(bool is_typed_row) const {
    const bool is_typed = !std::holds_alternative<std::monostate>(event.record().record);
    return is_typed != is_typed_row;
  }
};

/// Checks a row of a typed table or of `bsky.records` against the present lexicons. Nothing: the
/// row is right, or its JSON is not exact enough to say that its record is valid. The MIME types
/// and sizes of avatars and banners are not checked: typed tables do not have them.
std::optional<Verdict> judge(const StoredRow& row, bool is_typed_row,
                             const lexicon_store::AddedChecks& added);

}  // namespace skua::recheck
