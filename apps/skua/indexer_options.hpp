#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/indexer.hpp"
#include "filter/filter_watch.hpp"
#include "invocation.hpp"
#include "settings.hpp"
#include "sources/source.hpp"
#include "transport/endpoint.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

/// A kind of source. Its name, Source::kind(), follows from its setting: `--relay`.
struct SourceKind {
  /// The setting with the addresses of the sources of this kind.
  const OptionText* setting;
  /// Whether the settings may name only one kind of which this is true. The command line may name
  /// several.
  bool is_exclusive;
  /// Makes a source from an address of the setting. Throws UsageError.
  std::shared_ptr<const sources::Source> (*make)(const Invocation& invocation,
                                                 const SettingValue& address);

  std::string_view name() const { return std::string_view(setting->name).substr(2); }
};

/// Returns all kinds, in the order in which their sources are listed.
const std::vector<SourceKind>& source_kinds();

/// Returns whether the command line names a source. If it does, sources of other kinds in the
/// settings are ignored.
bool names_sources(const Invocation& invocation);
/// Returns whether the command line or a setting names a source.
bool has_sources(const Invocation& invocation);

/// Returns the sources of the command line or, without one, the source of the settings. Throws
/// UsageError if there is none, if settings name several kinds, or for invalid values.
std::vector<sources::SourceStart> source_choice(const Invocation& invocation);

/// The Tap of the command line or settings, with its password.
struct TapAddress {
  transport::Endpoint endpoint;
  /// The password; empty if Tap needs none.
  std::string password;
};
TapAddress tap_address(const Invocation& invocation);

/// Returns a text for people with the sources and their verification.
std::string sources_text(const std::vector<sources::SourceStart>& sources,
                         const std::optional<verify::Level>& level);

/// Returns a text for people with the verification of a source (see verify_text).
std::string trust_text(const sources::Source& source, const std::optional<verify::Level>& level);

/// Returns the filter of the command line: --collection, --did, --list and the file of
/// `file_option`, without the content of the file; nothing if there are neither names nor a file.
/// Handles are looked up after all other values were checked. Throws UsageError for a name that is
/// neither a collection nor an account, and for a file that is not a filter; std::runtime_error for
/// a handle that does not resolve.
std::optional<filter::FilterChoice> filter_choice(const Invocation& invocation,
                                                  const Option<OptionalText>& file_option);

/// Returns the options of the indexer of `skua run`, except for the filter. Makes no request.
/// Throws UsageError.
app::IndexerOptions indexer_options(const Invocation& invocation);

}  // namespace skua::cli
