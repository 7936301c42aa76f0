#pragma once

#include <string_view>

#include "store/session.hpp"

namespace skua::cli {

/// True: no bootstrap is open, so that tables have all of their indexes. Otherwise says on standard
/// error that this command, such as `retention apply`, must wait. Throws store::SqlError.
bool can_use_indexes(store::Session& session, std::string_view command);

}  // namespace skua::cli
