#include "filter_choice.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "account_choice.hpp"
#include "atproto/collection_filter.hpp"
#include "input_file.hpp"

namespace skua::cli {

std::optional<filter::FilterChoice> filter_choice(const Settings& settings,
                                                  const FilterFlags& flags,
                                                  const VerificationFlags& verification) {
  for (const std::string& name : flags.collections) {
    if (!atproto::is_collection_pattern(name)) {
      throw UsageError(
          fmt::format("--collection: '{}' is neither a collection nor a prefix; examples are "
                      "app.bsky.feed.post and app.bsky.graph.*",
                      name));
    }
  }
  const AccountChoice accounts = account_choice(settings, verification, flags.dids, {});
  if (flags.collections.empty() && flags.dids.empty() && !flags.file) return std::nullopt;
  try {
    if (flags.file) {
      require_file(flags.file_flag, *flags.file);
      filter::FilterFile(*flags.file).read();
    }
  } catch (const filter::FilterError& error) {
    throw UsageError(fmt::format("{}: {}", flags.file_flag, error.what()));
  }
  std::size_t problems = 0;
  filter::FilterChoice choice{{flags.collections, look_up(accounts, problems)}, flags.file};
  if (problems > 0) throw std::runtime_error("the filter stays as it is: an account is missing");
  filter::normalize(choice.names);
  return choice;
}

}  // namespace skua::cli
