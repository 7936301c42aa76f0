#pragma once

#include <string>

namespace skua::store {

/// What other sessions see of this process in `pg_stat_activity`: `<role> pid N at HOST`, cut to
/// the 63 bytes that PostgreSQL keeps.
std::string process_name(const std::string& role);

}  // namespace skua::store
