#include "backfill/queue/impl/job_sql.hpp"

#include <chrono>
#include <cstdint>

#include <fmt/format.h>

#include "backfill/queue/job_table.hpp"

namespace skua::backfill::impl {

std::string rare_delay_sql() {
  return fmt::format("least({} * 2 ^ least(j.retries, 10), {}) * (0.75 + random() / 2)",
                     std::chrono::seconds(kRareDelay).count(),
                     std::chrono::seconds(kLongestRareDelay).count());
}

store::Array text_array(std::span<const std::string> texts) {
  store::Array array(store::Array::Type::text);
  for (const std::string& text : texts) array.text(text);
  return array;
}

void add_or_null(store::Array& array, const std::optional<std::string>& text) {
  text ? array.text(*text) : array.null();
}

void add_or_null(store::Array& array, const std::optional<atproto::Tid>& tid) {
  tid ? array.int8(static_cast<std::int64_t>(tid->value)) : array.null();
}

std::optional<atproto::Tid> tid_or_null(const store::Rows& rows, std::size_t row,
                                        std::size_t column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return atproto::Tid{static_cast<std::uint64_t>(rows.int8(row, column))};
}

}  // namespace skua::backfill::impl
