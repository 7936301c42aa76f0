#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/source.hpp"
#include "filter_choice.hpp"
#include "settings.hpp"

namespace skua::cli {

/// What `skua run` reads from, as the command line gave it.
struct SourceFlags {
  std::optional<std::string> relay;
  std::optional<std::string> tap;
  std::optional<std::string> tap_password_file;
  std::optional<std::string> jetstream;
  std::optional<std::string> zstd_dictionary;
  std::optional<std::string> cursor;
  FilterFlags filter;
};

/// The one source that is named, by flags or else by settings. UsageError when none is, or several
/// are, or something about it makes no sense.
app::Source source_choice(const Settings& settings, const SourceFlags& flags);

/// The Tap that flags or settings name, with its password. UsageError when there is none.
app::TapSource tap_address(const Settings& settings, const std::optional<std::string>& flag,
                           const std::optional<std::string>& password_file);

/// What a source's data is worth, for people: see verify_words.
std::string trust_words(const app::Source& source, const std::string& verified);

}  // namespace skua::cli
