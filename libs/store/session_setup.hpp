#pragma once

#include <string>

#include "store/database_watch.hpp"
#include "store/session.hpp"

namespace skua::store {

/// What a session is told when it has been set up.
struct SessionFacts {
  DatabaseIdentity database;
  /// The server's process of this connection.
  int server_pid = 0;
};

/// Gives a new session its name and all settings that the program relies on, whatever the server,
/// the database, the role or the environment say, and asks which database it has reached. Two round
/// trips. Throws SqlError.
SessionFacts set_up_session(Session& session, const std::string& application_name);

}  // namespace skua::store
