#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backfill/discovery/audit.hpp"
#include "settings.hpp"
#include "sources/source.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

/// `--audit-every DURATION|off`: how `skua run` audits the hosts of its first relay; nothing: no
/// audits. The default is every day if relays are read and verified and the filter names no
/// accounts. Throws UsageError for a malformed duration, and if revisions are not tracked.
std::optional<backfill::AuditOptions> audit_choice(const Settings& settings,
                                                   const std::optional<std::string>& flag,
                                                   const std::vector<sources::SourceStart>& sources,
                                                   const std::optional<verify::Level>& verify);

}  // namespace skua::cli
