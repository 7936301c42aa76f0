#include <array>
#include <bit>
#include <chrono>
#include <cstring>

#include "store/session.hpp"

namespace skua::store {
namespace {

/// PostgreSQL counts microseconds from 2000-01-01.
constexpr std::int64_t kPostgresEpoch =
    std::chrono::microseconds(
        std::chrono::sys_days(std::chrono::year(2000) / 1 / 1).time_since_epoch())
        .count();

constexpr std::size_t kHeader = 20;

template <class T>
std::array<char, sizeof(T)> big_endian(T value) {
  std::array<char, sizeof(T)> bytes{};
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(value >> (8 * (sizeof(T) - 1 - i)));
  }
  return bytes;
}

template <class T>
void append(std::string& out, T value) {
  const auto bytes = big_endian(value);
  out.append(bytes.data(), bytes.size());
}

/// Length and bytes of one array item.
template <class T>
void append_item(std::string& out, T value) {
  std::array<char, 4 + sizeof(T)> item{};
  const auto length = big_endian(static_cast<std::uint32_t>(sizeof(T)));
  const auto bytes = big_endian(value);
  std::memcpy(item.data(), length.data(), length.size());
  std::memcpy(item.data() + length.size(), bytes.data(), bytes.size());
  out.append(item.data(), item.size());
}

/// Appends `text` without its NULs; returns how many there were.
std::size_t append_without_nuls(std::string& out, std::string_view text) {
  std::size_t removed = 0;
  while (!text.empty()) {
    const std::size_t nul = text.find('\0');
    out.append(text.substr(0, nul));
    if (nul == std::string_view::npos) break;
    ++removed;
    text.remove_prefix(nul + 1);
  }
  return removed;
}

std::uint64_t postgres_time(Timestamp value) {
  return static_cast<std::uint64_t>(value.time_since_epoch().count() - kPostgresEpoch);
}

/// The type's row in pg_type: these numbers are fixed.
std::uint32_t oid_of(Array::Type type) {
  switch (type) {
    case Array::Type::int4:
      return 23;
    case Array::Type::int8:
      return 20;
    case Array::Type::boolean:
      return 16;
    case Array::Type::text:
      return 25;
    case Array::Type::bytea:
      return 17;
    case Array::Type::timestamptz:
      return 1184;
  }
  return 0;
}

}  // namespace

void Array::int4(std::int32_t value) {
  append_item(items_, static_cast<std::uint32_t>(value));
  ++count_;
}

void Array::int8(std::int64_t value) {
  append_item(items_, static_cast<std::uint64_t>(value));
  ++count_;
}

void Array::boolean(bool value) {
  append_item(items_, static_cast<std::uint8_t>(value ? 1 : 0));
  ++count_;
}

void Array::text(std::string_view value) {
  const std::size_t start = items_.size();
  append(items_, static_cast<std::uint32_t>(value.size()));
  if (const std::size_t removed = append_without_nuls(items_, value); removed > 0) {
    const auto length = big_endian(static_cast<std::uint32_t>(value.size() - removed));
    std::memcpy(items_.data() + start, length.data(), length.size());
    nuls_removed_ += removed;
  }
  ++count_;
}

void Array::bytea(ByteView value) {
  append(items_, static_cast<std::uint32_t>(value.size()));
  items_.append(as_text(value));
  ++count_;
}

void Array::timestamp(Timestamp value) {
  append_item(items_, postgres_time(value));
  ++count_;
}

void Array::null() {
  append(items_, ~std::uint32_t{0});
  has_nulls_ = true;
  ++count_;
}

std::string Array::encode() const {
  std::string out;
  out.reserve(kHeader + items_.size());
  // An empty array has no dimension.
  append(out, std::uint32_t{count_ == 0 ? 0U : 1U});
  append(out, std::uint32_t{has_nulls_ ? 1U : 0U});
  append(out, oid_of(type_));
  if (count_ == 0) return out;
  append(out, static_cast<std::uint32_t>(count_));
  append(out, std::uint32_t{1});  // the first index
  out += items_;
  return out;
}

std::string text_array_literal(std::span<const std::string_view> items) {
  std::string out = "{";
  for (const std::string_view item : items) {
    if (out.size() > 1) out += ',';
    out += '"';
    for (const char c : item) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  out += '}';
  return out;
}

namespace {

template <class T>
Params::Value value_of(T number) {
  const auto bytes = big_endian(number);
  return {false, std::string(bytes.data(), bytes.size())};
}

}  // namespace

Params& Params::int4(std::int32_t value) {
  values_.push_back(value_of(static_cast<std::uint32_t>(value)));
  return *this;
}

Params& Params::int8(std::int64_t value) {
  values_.push_back(value_of(static_cast<std::uint64_t>(value)));
  return *this;
}

Params& Params::boolean(bool value) {
  values_.push_back(value_of(static_cast<std::uint8_t>(value ? 1 : 0)));
  return *this;
}

Params& Params::text(std::string_view value) {
  Value& added = values_.emplace_back();
  nuls_removed_ += append_without_nuls(added.binary, value);
  return *this;
}

Params& Params::bytea(ByteView value) {
  values_.push_back({false, std::string(as_text(value))});
  return *this;
}

Params& Params::timestamp(Timestamp value) {
  values_.push_back(value_of(postgres_time(value)));
  return *this;
}

Params& Params::null() {
  values_.push_back({true, {}});
  return *this;
}

Params& Params::array(const Array& values) {
  values_.push_back({false, values.encode()});
  nuls_removed_ += values.nuls_removed();
  return *this;
}

}  // namespace skua::store
