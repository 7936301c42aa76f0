#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "store/session.hpp"

namespace skua::store {

/// What the program will ask of the server at one time.
struct ServerNeeds {
  /// Advisory locks: workers times the events of a batch.
  std::size_t locks = 0;
  std::size_t connections = 0;
};

/// Whether the server can carry the program: version 14 or later, UTF-8, not a read-only standby, a
/// lock table and connections that are enough. Each problem is a sentence with the setting to
/// change; none: all is well. Throws SqlError.
std::vector<std::string> server_problems(Session& session, const ServerNeeds& needs);

}  // namespace skua::store
