#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/session.hpp"

namespace skua::store {

/// An advisory lock of one 64-bit number.
struct RecordLockKey {
  std::int64_t key = 0;
};

/// An advisory lock of two 32-bit numbers, both not negative.
struct NamedLockKey {
  std::int32_t space = 0;
  std::int32_t key = 0;
};

/// The session that holds a lock in this session's database, for messages: its application name,
/// server process, address and start time. Nothing if no session holds it. Throws SqlError.
std::optional<std::string> lock_owner(Session& session, RecordLockKey key);
std::optional<std::string> lock_owner(Session& session, NamedLockKey key);

}  // namespace skua::store
