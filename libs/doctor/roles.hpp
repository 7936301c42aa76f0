#pragma once

#include <cstdint>
#include <string>

#include "doctor/finding.hpp"
#include "store/session.hpp"

namespace skua::doctor {

/// The rights of the session's role, and of the role skua_reader.
struct RolesFound {
  std::string role;
  /// The session's role may read what skua_reader reads, and is not its owner.
  bool is_reader = false;
  /// Tables of bsky and skua that the role does not own, directly or as a member, and one of them.
  std::int64_t not_owned = 0;
  std::string not_owned_example = {};
  bool reader_exists = false;
  /// Tables and views for readers that skua_reader may not read, and one of them.
  std::int64_t reader_lacks = 0;
  std::string reader_lacks_example = {};
};

/// Throws store::SqlError.
RolesFound read_roles(store::Session& session);

/// Pure.
Findings judge_roles(const RolesFound& roles);

}  // namespace skua::doctor
