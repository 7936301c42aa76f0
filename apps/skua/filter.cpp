#include <cstdint>
#include <cstdio>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounts.hpp"
#include "atproto/collection_filter.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "filter/filter_file.hpp"
#include "indexer_options.hpp"
#include "postgres/session.hpp"
#include "retention/removal.hpp"
#include "settings.hpp"
#include "tables/filter_table.hpp"

namespace skua::cli {
namespace {

struct ListName {
  /// The owner of the list: a DID or a handle.
  std::string owner;
  std::string rkey;
};

/// Reads an AT-URI or the bsky.app URL of a list.
ListName list_name(const SettingValue& given) {
  static const std::regex kForm(
      "(?:at://([^/]+)/app\\.bsky\\.graph\\.list/|https://bsky\\.app/profile/([^/]+)/lists/)"
      "([A-Za-z0-9._:~-]{1,512})");
  std::smatch parts;
  if (!std::regex_match(given.value, parts, kForm)) {
    throw UsageError(
        fmt::format("--list: '{}' is not a list; examples are "
                    "at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.graph.list/3kabc and "
                    "https://bsky.app/profile/bsky.app/lists/3kabc",
                    given.value));
  }
  return {parts[1].matched ? parts[1].str() : parts[2].str(), parts[3].str()};
}

const Option<std::vector<ListName>> kLists(
    {.name = "--list",
     .type = "URI",
     .meaning = "A list: the accounts on it and its owner pass; AT-URI or bsky.app URL"},
    list_name);
const Option<OptionalText> kNamesFile(
    {.name = "--file",
     .type = "FILE",
     .meaning = "File of collections, prefixes, DIDs and lists, one per line; # begins a comment"});

enum class FilterAction : std::uint8_t { Set, Add, Remove, Clear };

/// Returns all names on the command line and in the file.
tables::FilterContent names_of(const Invocation& invocation, FilterAction action) {
  if (action == FilterAction::Clear) return {};
  const auto choice = filter_choice(invocation, kNamesFile);
  if (!choice) {
    throw UsageError(
        "name collections with --collection, accounts with --did, lists with --list, or a --file");
  }
  if (!choice->file) return choice->names;
  return filter::merged(choice->names, filter::FilterFile(*choice->file).read());
}

tables::FilterEdit edit_of(FilterAction action) {
  switch (action) {
    case FilterAction::Add:
      return tables::FilterEdit::Add;
    case FilterAction::Remove:
      return tables::FilterEdit::Remove;
    case FilterAction::Set:
    case FilterAction::Clear:
      break;
  }
  return tables::FilterEdit::Set;
}

void print_what_follows(postgres::Session& session, const tables::FilterChange& change) {
  if (change.before.collections != change.after.collections) {
    const tables::FilterState state = tables::load_filter_state(session);
    if (state.widened == state.version) {
      fmt::print(
          "more collections pass: the resync of {} whose history was brought in adds their older "
          "records. Of all others they are stored from now on; `skua backfill` brings in the older "
          "ones\n",
          counted(tables::waiting_for_filter(session), "repository"));
    }
    if (!change.after.collections.empty()) {
      fmt::print(
          "records of other collections are skipped from now on; their existing rows stay, and are "
          "not updated\n");
    }
  }
  if (change.before.dids != change.after.dids || change.before.lists != change.after.lists) {
    if (!change.after.lists.empty()) {
      fmt::print(
          "the accounts on a list are known as far as the records of its owner are: `skua "
          "backfill OWNER` adds them; `skua run` follows changes of the list\n");
    }
    if (!change.after.dids.empty() || !change.after.lists.empty()) {
      fmt::print(
          "events of other accounts are not read from now on, deletions included; their existing "
          "rows stay\n");
    }
    if (!change.before.dids.empty() || !change.before.lists.empty()) {
      fmt::print(
          "for accounts that pass again, missed records show with the next commit from a verified "
          "relay; for other sources, use skua backfill\n");
    }
  }
}

int filter_show(const Invocation& invocation) {
  postgres::Session session = open_state_to_read(invocation, "skua filter");
  const auto filter = tables::load_filter(session);
  const tables::FilterContent& content = filter->content();
  const tables::FilterContent entries = tables::load_filter_entries(session);
  const std::int64_t waiting = tables::waiting_for_filter(session);
  if (invocation[kJson]) {
    const nlohmann::json json = {
        {"version", filter->version()}, {"collections", content.collections},
        {"dids", entries.dids},         {"lists", entries.lists},
        {"accounts", content.dids},     {"excluded", filter->limits().excluded},
        {"waiting_for_resync", waiting}};
    fmt::print("{}\n", json.dump(2));
    return kSuccess;
  }
  fmt::print("stored: {}\n", filter::filter_text(content));
  for (const std::string& name : content.collections) fmt::print("  {}\n", name);
  for (const std::string& did : entries.dids) fmt::print("  {}\n", did);
  for (const std::string& list : entries.lists) fmt::print("  {}\n", list);
  const auto& excluded = filter->limits().excluded;
  if (!excluded.empty()) fmt::print("excluded: {}\n", counted(excluded.size(), "account"));
  for (const std::string& did : excluded) fmt::print("  {}\n", did);
  if (waiting > 0) fmt::print("waiting for a resync: {}\n", counted(waiting, "repository"));
  return kSuccess;
}

int filter_change(const Invocation& invocation, FilterAction action) {
  require_database(invocation);
  const tables::FilterContent names = names_of(invocation, action);
  postgres::Session session = open_database(invocation, "skua filter");
  const tables::FilterChange change = tables::change_filter(session, edit_of(action), names);
  if (!change.is_change()) {
    fmt::print("nothing changed; stored: {}\n", filter::filter_text(change.after));
    return kSuccess;
  }
  fmt::print("{}\nstored: {}\n", filter::change_text(change), filter::filter_text(change.after));
  std::fflush(stdout);
  while (tables::mark_for_filter(session)) {
  }
  print_what_follows(session, change);
  return kSuccess;
}

int filter_exclude(const Invocation& invocation, bool exclude) {
  const std::string url = require_database(invocation);
  const Texts accounts = invocation[kDids];
  const Texts files = invocation[kFiles];
  if (accounts.empty() && files.empty()) {
    throw UsageError("name accounts with --did or --file");
  }
  std::size_t problems = 0;
  const std::vector<std::string> dids =
      look_up(account_choice(invocation, accounts, files), problems);
  if (problems > 0) throw std::runtime_error("nothing is changed: an account is missing");
  postgres::Session session = open_database(invocation, "skua filter");
  if (exclude) {
    const std::size_t changed = tables::exclude_accounts(session, dids);
    fmt::print("{} excluded\n", counted(changed, "account"));
    if (changed > 0) {
      fmt::print("`skua run` removes their rows within a minute, `skua retention apply` now\n");
    }
  } else {
    const std::size_t changed = tables::include_accounts(session, dids);
    fmt::print("{} no longer excluded\n", counted(changed, "account"));
    if (changed > 0) {
      fmt::print(
          "`skua run` downloads repositories that were complete again; `skua backfill` adds the "
          "older records of all others\n");
    }
  }
  return kSuccess;
}

int filter_prune(const Invocation& invocation) {
  postgres::Session session = open_database(invocation, "skua filter");
  if (!can_use_indexes(session, "filter prune")) return kFailure;
  const auto filter = tables::load_filter(session);
  fmt::print("stored: {}\n", filter::filter_text(tables::load_filter_entries(session)));
  std::fflush(stdout);
  fmt::print("{} removed\n", counted(retention::prune(session, *filter), "other row"));
  return kSuccess;
}

}  // namespace

std::optional<filter::FilterChoice> filter_choice(const Invocation& invocation,
                                                  const Option<OptionalText>& file_option) {
  const Texts collections = invocation[kCollections];
  const Texts dids = invocation[kDids];
  const OptionalText file = invocation[file_option];
  for (const std::string& name : collections) {
    if (!atproto::is_collection_pattern(name)) {
      throw UsageError(
          fmt::format("--collection: '{}' is neither a collection nor a prefix; examples are "
                      "app.bsky.feed.post and app.bsky.graph.*",
                      name));
    }
  }
  const AccountChoice accounts = account_choice(invocation, dids);
  const std::vector<ListName> lists = invocation[kLists];
  if (collections.empty() && dids.empty() && lists.empty() && !file) {
    return std::nullopt;
  }
  try {
    if (file) {
      require_file(file_option.name, *file);
      filter::FilterFile(*file).read();
    }
  } catch (const filter::FilterError& error) {
    throw UsageError(fmt::format("{}: {}", file_option.name, error.what()));
  }
  std::size_t problems = 0;
  filter::FilterChoice choice{{collections, look_up(accounts, problems)}, file};
  for (const ListName& list : lists) {
    const auto owner = look_up(account_choice(invocation, {list.owner}), problems);
    for (const std::string& did : owner) {
      choice.names.lists.push_back(fmt::format("at://{}/app.bsky.graph.list/{}", did, list.rkey));
    }
  }
  if (problems > 0) throw std::runtime_error("the filter stays as it is: an account is missing");
  filter::normalize(choice.names);
  return choice;
}

CommandSpecs filter_commands() {
  const auto named = [](const char* name, const char* summary, FilterAction action) {
    return CommandSpec{
        name,
        summary,
        {kDatabase,
         with_meaning(kCollections, "A collection, or a prefix such as app.bsky.graph.*"),
         with_meaning(kDids, "An account: " + kWho.meaning), kLists, kNamesFile, kDns, kCaFile,
         kAllowPrivateHosts},
        [action](const Invocation& invocation) { return filter_change(invocation, action); }};
  };
  const auto accounts = [](const char* name, const char* summary, bool exclude) {
    return CommandSpec{
        name,
        summary,
        {kDatabase, with_meaning(kDids, "An account: " + kWho.meaning),
         with_meaning(kFiles, "File of accounts, one per line; # begins a comment"), kDns, kCaFile,
         kAllowPrivateHosts},
        [exclude](const Invocation& invocation) { return filter_exclude(invocation, exclude); }};
  };
  return {
      {"filter", "Show and change which collections and accounts are stored"},
      {"filter show",
       "Print the filter, and repositories that wait because of it",
       {kDatabase, kJson},
       filter_show},
      named("filter set", "Replace the filter", FilterAction::Set),
      named("filter add", "Add collections and accounts to the filter", FilterAction::Add),
      named("filter remove", "Remove collections and accounts from the filter",
            FilterAction::Remove),
      {"filter clear",
       "Remove the filter: store everything",
       {kDatabase},
       [](const Invocation& invocation) { return filter_change(invocation, FilterAction::Clear); }},
      {"filter prune",
       "Remove the rows of accounts and collections that the filter leaves out",
       {kDatabase},
       filter_prune},
      accounts("filter exclude", "Exclude accounts and remove their rows", true),
      accounts("filter include", "End the exclusion of accounts", false)};
}

}  // namespace skua::cli
