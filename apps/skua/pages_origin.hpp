#pragma once

#include <string>

#include "settings.hpp"

namespace skua::cli {

/// Where `skua run` has its pages unless `--http` says otherwise.
inline constexpr const char* kDefaultPages = "127.0.0.1:2580";

/// The origin of the pages of a process, such as `http://127.0.0.1:2580`: of the address on which
/// it listens, or of a URL. Throws UsageError, also for `off`.
std::string pages_origin(const Found& found);

}  // namespace skua::cli
