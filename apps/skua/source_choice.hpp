#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "filter_choice.hpp"
#include "settings.hpp"
#include "sources/relay/fail_over.hpp"
#include "sources/source.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

/// What `skua run` reads from, as the command line gave it.
struct SourceFlags {
  std::vector<std::string> relays;
  std::optional<std::string> failover_after;
  std::optional<std::string> failback_after;
  std::optional<std::string> failover_margin;
  std::optional<std::string> tap;
  std::optional<std::string> tap_password_file;
  std::optional<std::string> jetstream;
  std::vector<std::string> labelers;
  std::optional<std::string> zstd_dictionary;
  std::optional<std::string> cursor;
  FilterFlags filter;
};

/// The sources that are named: those of flags, or else the one that settings name. UsageError when
/// there is none, or settings name several kinds, or something makes no sense.
std::vector<sources::SourceStart> source_choice(const Settings& settings, const SourceFlags& flags);

/// When another relay takes over, and when the first does again.
struct FailOverChoice {
  sources::FailOver::Options options;
  std::chrono::milliseconds margin{};
};
FailOverChoice fail_over_choice(const Settings& settings, const SourceFlags& flags);

/// The Tap that flags or settings name, with its password. UsageError when there is none.
struct TapAddress {
  transport::Endpoint endpoint;
  /// Empty: Tap needs none.
  std::string password;
};
TapAddress tap_address(const Settings& settings, const std::optional<std::string>& flag,
                       const std::optional<std::string>& password_file);

/// The sources with what their data is worth, for people.
std::string sources_text(const std::vector<sources::SourceStart>& sources,
                         const std::optional<verify::Level>& level);

/// What a source's data is worth, for people: see verify_text.
std::string trust_text(const sources::Source& source, const std::optional<verify::Level>& level);

}  // namespace skua::cli
