#pragma once

#include <vector>

#include "accounts/handle_verifier.hpp"
#include "accounts/plc_tail.hpp"
#include "app/indexer.hpp"
#include "sources/labeler/discovery/discovered_labelers.hpp"
#include "sources/source_run.hpp"

namespace skua::app {

// The options of the parts of an Indexer that follow from its own options alone. Pure.

/// Sources that stand by for each other are one group; all others are on their own.
std::vector<std::vector<sources::SourceStart>> source_groups(
    const std::vector<sources::SourceStart>& starts);

/// Of one group.
sources::SourceRunOptions source_run_options(const IndexerOptions& options,
                                             std::vector<sources::SourceStart> group);

/// `check_handles` has a value.
accounts::HandleLookups::Options handle_options(const IndexerOptions& options);

accounts::PlcTail::Options plc_tail_options(const IndexerOptions& options);

/// `discover_labelers` has a value.
sources::DiscoveredLabelers::Options labeler_options(const IndexerOptions& options);

}  // namespace skua::app
