#pragma once

#include <string>
#include <string_view>

#include "app/database.hpp"
#include "invocation.hpp"
#include "postgres/session.hpp"

namespace skua::cli {

/// Returns the database that `--database` or a setting names. Throws UsageError if there is none,
/// or if its URL is malformed; the message contains no password. Does not connect.
std::string require_database(const Invocation& invocation);

/// Returns whether the server must keep committed data. It must, unless the flag or a setting
/// permits otherwise.
app::Durability durability(const Invocation& invocation);

/// Opens a session with the chosen database and checks its schema. `command`, such as "skua
/// filter", becomes the name of the session. Throws UsageError, postgres::SqlError, and
/// std::runtime_error for another schema.
postgres::Session open_database(const Invocation& invocation, std::string_view command);
/// The same for a command that only reads, which a read-only standby suits, too.
postgres::Session open_database_to_read(const Invocation& invocation, std::string_view command);

/// The same for a command that reads the state of the indexer, such as jobs or dead letters. Throws
/// std::runtime_error for a query database, which has none.
postgres::Session open_state_to_read(const Invocation& invocation, std::string_view command);

/// Returns true if no bootstrap is open, so that tables have all of their indexes. Otherwise prints
/// to stderr that this command, such as `retention apply`, must wait. Throws postgres::SqlError.
bool can_use_indexes(postgres::Session& session, std::string_view command);

}  // namespace skua::cli
