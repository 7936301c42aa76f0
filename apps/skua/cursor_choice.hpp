#pragma once

#include "settings.hpp"
#include "sources/cursor_choice.hpp"

namespace skua::cli {

/// `live`, `oldest` or a sequence number; otherwise throws UsageError.
sources::CursorChoice cursor_choice(const Found& found);

}  // namespace skua::cli
