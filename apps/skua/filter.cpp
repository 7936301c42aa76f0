#include "filter.hpp"

#include <cstdio>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "account_choice.hpp"
#include "app/database.hpp"
#include "base/count_text.hpp"
#include "bootstrap_check.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "filter/filter_file.hpp"
#include "filter/filter_text.hpp"
#include "retention/prune.hpp"
#include "store/filter_table.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

store::Session session_at(const std::string& url) {
  app::check_database(url);
  return {url, store::process_name("skua filter")};
}

/// All names on the command line, the file's content included.
store::FilterContent names_of(const Settings& settings, const FilterCommandFlags& flags,
                              FilterAction action) {
  if (action == FilterAction::Clear) return {};
  const auto choice = filter_choice(settings, flags.names, flags.verification);
  if (!choice) {
    throw UsageError(
        "name collections with --collection, accounts with --did, lists with --list, or a --file");
  }
  if (!choice->file) return choice->names;
  return filter::merged(choice->names, filter::FilterFile(*choice->file).read());
}

store::FilterEdit edit_of(FilterAction action) {
  switch (action) {
    case FilterAction::Add:
      return store::FilterEdit::Add;
    case FilterAction::Remove:
      return store::FilterEdit::Remove;
    case FilterAction::Set:
    case FilterAction::Clear:
      break;
  }
  return store::FilterEdit::Set;
}

void print_what_follows(store::Session& session, const store::FilterChange& change) {
  if (change.before.collections != change.after.collections) {
    const store::FilterState state = store::load_filter_state(session);
    if (state.widened == state.version) {
      fmt::print(
          "more collections pass: the resync of {} whose history was brought in adds their older "
          "records. Of all others they are stored from now on; `skua backfill` brings in the older "
          "ones\n",
          counted(store::waiting_for_filter(session), "repository"));
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

}  // namespace

int filter_show(const Settings& settings, const FilterCommandFlags& flags) {
  store::Session session = session_at(require_database(settings, flags.database));
  const auto filter = store::load_filter(session);
  const store::FilterContent& content = filter->content();
  const store::FilterContent entries = store::load_filter_entries(session);
  const std::int64_t waiting = store::waiting_for_filter(session);
  if (flags.json) {
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

int filter_change(const Settings& settings, const FilterCommandFlags& flags, FilterAction action) {
  const std::string url = require_database(settings, flags.database);
  const store::FilterContent names = names_of(settings, flags, action);
  store::Session session = session_at(url);
  const store::FilterChange change = store::change_filter(session, edit_of(action), names);
  if (!change.is_change()) {
    fmt::print("nothing changed; stored: {}\n", filter::filter_text(change.after));
    return kSuccess;
  }
  fmt::print("{}\nstored: {}\n", filter::change_text(change), filter::filter_text(change.after));
  std::fflush(stdout);
  while (store::mark_for_filter(session)) {
  }
  print_what_follows(session, change);
  return kSuccess;
}

int filter_exclude(const Settings& settings, const FilterCommandFlags& flags, bool exclude) {
  const std::string url = require_database(settings, flags.database);
  if (flags.accounts.empty() && flags.files.empty()) {
    throw UsageError("name accounts with --did or --file");
  }
  std::size_t problems = 0;
  const std::vector<std::string> dids =
      look_up(account_choice(settings, flags.verification, flags.accounts, flags.files), problems);
  if (problems > 0) throw std::runtime_error("nothing is changed: an account is missing");
  store::Session session = session_at(url);
  if (exclude) {
    const std::size_t changed = store::exclude_accounts(session, dids);
    fmt::print("{} excluded\n", counted(changed, "account"));
    if (changed > 0) {
      fmt::print("`skua run` removes their rows within a minute, `skua retention apply` now\n");
    }
  } else {
    const std::size_t changed = store::include_accounts(session, dids);
    fmt::print("{} no longer excluded\n", counted(changed, "account"));
    if (changed > 0) {
      fmt::print(
          "`skua run` downloads repositories that were complete again; `skua backfill` adds the "
          "older records of all others\n");
    }
  }
  return kSuccess;
}

int filter_prune(const Settings& settings, const FilterCommandFlags& flags) {
  store::Session session = session_at(require_database(settings, flags.database));
  if (!can_use_indexes(session, "filter prune")) return kFailure;
  const auto filter = store::load_filter(session);
  fmt::print("stored: {}\n", filter::filter_text(store::load_filter_entries(session)));
  std::fflush(stdout);
  fmt::print("{} removed\n", counted(retention::prune(session, *filter), "other row"));
  return kSuccess;
}

}  // namespace skua::cli
