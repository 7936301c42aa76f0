#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/indexer.hpp"
#include "filter/filter_watch.hpp"
#include "invocation.hpp"
#include "settings.hpp"
#include "sources/source.hpp"
#include "transport/endpoint.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

/// Whether the command line names a source. Settings of other kinds do not count then.
bool names_sources(const Invocation& invocation);

/// The sources of the command line, otherwise the source of the settings. Throws UsageError if
/// there is none, if settings name several kinds, or for invalid values.
std::vector<sources::SourceStart> source_choice(const Invocation& invocation);

/// The Tap of the command line or settings, with its password. Throws UsageError if there is none.
struct TapAddress {
  transport::Endpoint endpoint;
  /// Empty: Tap needs no password.
  std::string password;
};
TapAddress tap_address(const Invocation& invocation);

/// The sources and how they are verified, for people.
std::string sources_text(const std::vector<sources::SourceStart>& sources,
                         const std::optional<verify::Level>& level);

/// How a source is verified, for people: see verify_text.
std::string trust_text(const sources::Source& source, const std::optional<verify::Level>& level);

/// The filter on the command line, of --collection, --did, --list and the file of `file_option`,
/// without the content of the file; nothing: neither names nor a file. Handles are looked up after
/// everything else was checked. Throws UsageError for a name that is neither a collection nor an
/// account, and for a file that is not a filter; std::runtime_error for a handle that does not
/// resolve.
std::optional<filter::FilterChoice> filter_choice(const Invocation& invocation,
                                                  const Option<OptionalText>& file_option);

/// What `skua run` tells its indexer, except for the filter. Throws UsageError. Makes no request.
app::IndexerOptions indexer_options(const Invocation& invocation);

}  // namespace skua::cli
