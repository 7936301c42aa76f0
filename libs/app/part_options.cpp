#include "app/part_options.hpp"

#include <algorithm>
#include <utility>

namespace skua::app {

std::vector<std::vector<sources::SourceStart>> source_groups(
    const std::vector<sources::SourceStart>& starts) {
  std::vector<std::vector<sources::SourceStart>> groups;
  for (const sources::SourceStart& start : starts) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& other) {
      return start.source->has_standbys() && other.front().source->kind() == start.source->kind();
    });
    if (group != groups.end()) {
      group->push_back(start);
    } else {
      groups.push_back({start});
    }
  }
  return groups;
}

sources::SourceRunOptions source_run_options(const IndexerOptions& options,
                                             std::vector<sources::SourceStart> group) {
  return {.sources = std::move(group),
          .fail_over = options.fail_over,
          .margin = options.fail_over_margin,
          .level = options.verify.value_or(verify::Level::Full),
          .resync = options.resync,
          .repairs = options.verify && options.backfill,
          .ca_file = options.ca_file,
          .decode_threads = options.decode_threads,
          .in_flight = options.in_flight,
          .cursor_interval = options.cursor_interval,
          .read_timeout = options.read_timeout};
}

accounts::HandleLookups::Options handle_options(const IndexerOptions& options) {
  return {.dns = options.check_handles.value(),
          .ca_file = options.ca_file,
          .allow_private_hosts = options.accounts.allow_private_hosts};
}

accounts::PlcTail::Options plc_tail_options(const IndexerOptions& options) {
  return {.plc_url = options.accounts.plc_url, .ca_file = options.ca_file};
}

sources::DiscoveredLabelers::Options labeler_options(const IndexerOptions& options) {
  sources::DiscoveredLabelers::Options labelers{
      .limits = options.discover_labelers.value(),
      .ca_file = options.ca_file,
      .allow_private_hosts = options.accounts.allow_private_hosts};
  labelers.limits.allow_insecure = labelers.allow_private_hosts;
  for (const auto& start : options.sources) labelers.named.insert(start.source->name());
  return labelers;
}

}  // namespace skua::app
