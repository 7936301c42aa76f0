#include "audit_choice.hpp"

#include <chrono>

#include <fmt/format.h>

#include "relay_address.hpp"

namespace skua::cli {
std::optional<backfill::AuditOptions> audit_choice(const Settings& settings,
                                                   const std::optional<std::string>& flag,
                                                   const std::vector<sources::SourceStart>& sources,
                                                   const std::optional<verify::Level>& verify) {
  const auto found = settings.find(kAuditEvery, flag);
  if (found && found->value == "off") return std::nullopt;
  backfill::AuditOptions audit;
  if (found) {
    audit.every = duration(*found, std::chrono::minutes(1), std::chrono::days(365));
    audit.with_filtered_accounts = true;
  }
  for (const sources::SourceStart& start : sources) {
    if (start.source->proof() != sources::Proof::Commits) continue;
    audit.sources.push_back(start.source->name());
    if (audit.relay.empty()) audit.relay = http_origin(start.source->endpoint());
  }
  if (!audit.relay.empty() && verify) return audit;
  if (found) {
    throw UsageError(fmt::format(
        "{}: only repositories that a relay brings and that are verified can be audited",
        found->origin));
  }
  return std::nullopt;
}

}  // namespace skua::cli
