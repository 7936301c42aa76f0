#pragma once

#include "app/indexer.hpp"
#include "invocation.hpp"

namespace skua::cli {

/// What `skua run` tells its indexer, except for the filter. Throws UsageError. Makes no request.
app::IndexerOptions indexer_options(const Invocation& invocation);

}  // namespace skua::cli
