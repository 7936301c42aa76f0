#pragma once

#include <string>

namespace skua::store {

/// What identifies this process: 128 random bits, drawn once, as 22 characters of base64url. A
/// number of a process is not enough: in a container it is 1 after every restart, under the same
/// host name.
const std::string& process_token();

/// The name of this process for other sessions in `pg_stat_activity`: `<role> pid N at HOST TOKEN`,
/// cut to the 63 bytes that PostgreSQL stores. The token is always complete.
std::string process_name(const std::string& role);

}  // namespace skua::store
