#include "filter_choice.hpp"

#include <fmt/format.h>

#include "atproto/collection_filter.hpp"
#include "atproto/syntax.hpp"
#include "settings.hpp"

namespace skua::cli {

std::optional<app::FilterChoice> filter_choice(const FilterFlags& flags) {
  for (const std::string& name : flags.collections) {
    if (!atproto::is_collection_pattern(name)) {
      throw UsageError(
          fmt::format("--collection: '{}' is neither a collection nor a prefix; examples are "
                      "app.bsky.feed.post and app.bsky.graph.*",
                      name));
    }
  }
  for (const std::string& did : flags.dids) {
    if (!atproto::is_did(did)) throw UsageError(fmt::format("--did: '{}' is no DID", did));
  }
  if (flags.collections.empty() && flags.dids.empty() && !flags.file) return std::nullopt;
  try {
    if (flags.file) app::FilterFile(*flags.file).read();
  } catch (const app::FilterError& error) {
    throw UsageError(error.what());
  }
  app::FilterChoice choice{{flags.collections, flags.dids}, flags.file};
  app::normalize(choice.names);
  return choice;
}

}  // namespace skua::cli
