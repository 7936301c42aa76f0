#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/time.hpp"

/// How PostgreSQL writes values in its binary formats (send and receive functions of its types).
namespace skua::store {

/// PostgreSQL counts microseconds from 2000-01-01.
inline constexpr std::int64_t kPostgresEpoch =
    std::chrono::microseconds(
        std::chrono::sys_days(std::chrono::year(2000) / 1 / 1).time_since_epoch())
        .count();

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

/// Appends `text` without its NULs; returns the number of removed NULs.
inline std::size_t append_without_nuls(std::string& out, std::string_view text) {
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

inline std::uint64_t postgres_time(Timestamp value) {
  return static_cast<std::uint64_t>(value.time_since_epoch().count() - kPostgresEpoch);
}

}  // namespace skua::store
