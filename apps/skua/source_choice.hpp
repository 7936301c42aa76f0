#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "filter_choice.hpp"
#include "settings.hpp"
#include "sources/labeler/discovery/labeler_choice.hpp"
#include "sources/relay/fail_over.hpp"
#include "sources/source.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

/// The source flags of `skua run`.
struct SourceFlags {
  std::vector<std::string> relays;
  std::optional<std::string> failover_after;
  std::optional<std::string> failback_after;
  std::optional<std::string> failover_margin;
  std::optional<std::string> tap;
  std::optional<std::string> tap_password_file;
  std::optional<std::string> jetstream;
  std::vector<std::string> labelers;
  bool discover_labelers = false;
  std::optional<std::string> max_discovered_labelers;
  std::vector<std::string> signal_collections;
  std::optional<std::string> zstd_dictionary;
  std::optional<std::string> cursor;
  FilterFlags filter;
};

/// The sources of the flags, otherwise the source of the settings. Throws UsageError if there is
/// none, if settings name several kinds, or for invalid values.
std::vector<sources::SourceStart> source_choice(const Settings& settings, const SourceFlags& flags);

/// Nothing: labelers are not discovered.
std::optional<sources::LabelerLimits> discovery_choice(const Settings& settings,
                                                       const SourceFlags& flags);

/// The signal collections. Throws UsageError for a name that is not an NSID.
std::vector<std::string> signal_choice(const Settings& settings, const SourceFlags& flags);

/// When another relay takes over, and when the first one is used again.
struct FailOverChoice {
  sources::FailOver::Options options;
  std::chrono::milliseconds margin{};
};
FailOverChoice fail_over_choice(const Settings& settings, const SourceFlags& flags);

/// The Tap of flags or settings, with its password. Throws UsageError if there is none.
struct TapAddress {
  transport::Endpoint endpoint;
  /// Empty: Tap needs no password.
  std::string password;
};
TapAddress tap_address(const Settings& settings, const std::optional<std::string>& flag,
                       const std::optional<std::string>& password_file);

/// The sources and how they are verified, for people.
std::string sources_text(const std::vector<sources::SourceStart>& sources,
                         const std::optional<verify::Level>& level);

/// How a source is verified, for people: see verify_text.
std::string trust_text(const sources::Source& source, const std::optional<verify::Level>& level);

}  // namespace skua::cli
