#pragma once

#include <string>

#include "store/database_watch.hpp"
#include "store/session.hpp"

namespace skua::store {

/// What the server reported while the session was set up.
struct SessionFacts {
  DatabaseIdentity database;
  /// The server process of this connection.
  int server_pid = 0;
};

/// Sets the name of a new session and all settings that the program relies on, independent of the
/// server, the database, the role and the environment. Reads the identity of the database. Two
/// round trips. Throws SqlError.
SessionFacts set_up_session(Session& session, const std::string& application_name);

}  // namespace skua::store
