#pragma once

#include "app/source.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `live`, `oldest` or a sequence number, else UsageError.
app::CursorChoice cursor_choice(const Found& found);

}  // namespace skua::cli
