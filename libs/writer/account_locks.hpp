#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/record_type.hpp"
#include "store/advisory_lock.hpp"
#include "store/session.hpp"

namespace skua::writer {

/// The locks of all record types of an account.
inline std::vector<store::Lock> locks_of_account(store::Session& session, const std::string& did) {
  std::vector<store::Lock> locks;
  locks.reserve(records::kRecordTypes.size());
  for (const auto type : records::kRecordTypes) {
    locks.push_back(store::account_lock(session, static_cast<std::uint8_t>(type), did));
  }
  return locks;
}

}  // namespace skua::writer
