#pragma once

#include <string>
#include <string_view>

#include "app/database.hpp"
#include "invocation.hpp"
#include "postgres/session.hpp"

namespace skua::cli {

/// The database that `--database` or a setting names. Throws UsageError if there is none, or,
/// without the password, if it is malformed. Does not connect.
std::string require_database(const Invocation& invocation);

/// Whether the server must keep committed data: yes, unless the flag or a setting permits
/// otherwise.
app::Durability durability(const Invocation& invocation);

/// A session with that database, whose schema it checks. `command`: such as "skua filter", for the
/// name of the session. Throws UsageError, postgres::SqlError, and std::runtime_error for another
/// schema.
postgres::Session open_database(const Invocation& invocation, std::string_view command);

/// True: no bootstrap is open, so that tables have all of their indexes. Otherwise says on standard
/// error that this command, such as `retention apply`, must wait. Throws postgres::SqlError.
bool can_use_indexes(postgres::Session& session, std::string_view command);

}  // namespace skua::cli
