#pragma once

namespace skua::cli {

inline constexpr const char* kVersion = "skua " SKUA_VERSION;

}  // namespace skua::cli
