#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace skua::records {

/// The five kinds of work that never wait for each other: each has its own lanes, workers and
/// locks.
enum class RecordType : std::uint8_t { Actor, Like, Social, Post, Metadata };

inline constexpr std::array kRecordTypes = {RecordType::Actor, RecordType::Like, RecordType::Social,
                                            RecordType::Post, RecordType::Metadata};

constexpr std::string_view name_of(RecordType type) {
  constexpr std::array<std::string_view, 5> kNames = {"actor", "like", "social", "post",
                                                      "metadata"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace skua::records
