#pragma once

#include <compare>
#include <cstdint>

namespace skua::writer {

/// The key of a record's row.
struct RowKey {
  std::int32_t actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey = 0;

  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

}  // namespace skua::writer
