#include "filter_choice.hpp"

#include <regex>
#include <stdexcept>

#include <fmt/format.h>

#include "account_choice.hpp"
#include "atproto/collection_filter.hpp"
#include "input_file.hpp"

namespace skua::cli {
namespace {

struct ListName {
  /// A DID or a handle.
  std::string owner;
  std::string rkey;
};

/// Reads an AT-URI or the bsky.app URL of a list.
ListName list_name(const std::string& text) {
  static const std::regex kForm(
      "(?:at://([^/]+)/app\\.bsky\\.graph\\.list/|https://bsky\\.app/profile/([^/]+)/lists/)"
      "([A-Za-z0-9._:~-]{1,512})");
  std::smatch parts;
  if (!std::regex_match(text, parts, kForm)) {
    throw UsageError(
        fmt::format("--list: '{}' is not a list; examples are "
                    "at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.graph.list/3kabc and "
                    "https://bsky.app/profile/bsky.app/lists/3kabc",
                    text));
  }
  return {parts[1].matched ? parts[1].str() : parts[2].str(), parts[3].str()};
}

}  // namespace

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
  std::vector<ListName> lists;
  for (const std::string& name : flags.lists) lists.push_back(list_name(name));
  if (flags.collections.empty() && flags.dids.empty() && lists.empty() && !flags.file) {
    return std::nullopt;
  }
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
  for (const ListName& list : lists) {
    const auto owner = look_up(account_choice(settings, verification, {list.owner}, {}), problems);
    for (const std::string& did : owner) {
      choice.names.lists.push_back(fmt::format("at://{}/app.bsky.graph.list/{}", did, list.rkey));
    }
  }
  if (problems > 0) throw std::runtime_error("the filter stays as it is: an account is missing");
  filter::normalize(choice.names);
  return choice;
}

}  // namespace skua::cli
