#pragma once

#include <string>

namespace skua::store {

/// Identifies this process: 128 random bits, chosen once, as 22 characters of base64url. A process
/// number is not enough: in a container it is 1 after every restart, with the same host name.
const std::string& process_token();

/// The name of this process for other sessions in `pg_stat_activity`: `<role> pid N at HOST TOKEN`,
/// cut to the 63 bytes that PostgreSQL stores. The token is always complete.
std::string process_name(const std::string& role);

}  // namespace skua::store
