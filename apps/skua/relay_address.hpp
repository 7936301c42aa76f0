#pragma once

#include "settings.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {

/// The relay a setting names, else UsageError naming where it stood.
transport::Endpoint relay_address(const Found& found);

}  // namespace skua::cli
