#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backfill/discovery/audit.hpp"
#include "settings.hpp"
#include "sources/source.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

/// `--audit-every DURATION|off`: how `skua run` audits the hosts of its first relay; nothing: it
/// does not. Every day by default, where relays are read and verified, while the filter names no
/// accounts. UsageError for what is no duration, and where revisions are not followed.
std::optional<backfill::AuditOptions> audit_choice(const Settings& settings,
                                                   const std::optional<std::string>& flag,
                                                   const std::vector<sources::SourceStart>& sources,
                                                   const std::optional<verify::Level>& verify);

}  // namespace skua::cli
