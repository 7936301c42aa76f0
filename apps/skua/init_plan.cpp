#include "init_plan.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "atproto/collection_filter.hpp"
#include "atproto/syntax.hpp"
#include "backfill/did_arguments.hpp"
#include "feed/projections/projection.hpp"
#include "relay_address.hpp"
#include "retention.hpp"
#include "store/connection_string.hpp"

namespace skua::cli {
namespace {

const std::map<std::string, InitUse>& uses() {
  static const std::map<std::string, InitUse> all = {{"accounts", InitUse::Accounts},
                                                     {"collections", InitUse::Collections},
                                                     {"network", InitUse::Network}};
  return all;
}

std::pair<std::string, std::string> retention_rule(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !atproto::is_nsid(text.substr(0, equals))) {
    throw UsageError(
        fmt::format("--retention: '{}' is not COLLECTION=DURATION; an example is "
                    "app.bsky.feed.like=90d",
                    text));
  }
  retention_time({text.substr(equals + 1), "--retention"});
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::optional<std::string> relays_of(const Settings& settings, const InitFlags& flags) {
  if (!flags.relays.empty()) return fmt::format("{}", fmt::join(flags.relays, " "));
  const auto found = settings.find(kRelay, std::nullopt);
  return found ? found->value : std::optional<std::string>();
}

/// Every setting that has a value, in the order of the declarations.
std::vector<std::pair<const Setting*, std::string>> file_settings(const InitFlags& flags,
                                                                  const std::string& database,
                                                                  const std::string& relays) {
  std::map<const Setting*, std::optional<std::string>> values = {
      {&kDatabase, database},
      {&kRelay, relays},
      {&kPlc, flags.verification.plc},
      {&kDns, flags.verification.dns},
      {&kCaFile, flags.verification.ca_file}};
  if (flags.verification.allow_private_hosts) values[&kAllowPrivateHosts] = "true";
  std::vector<std::pair<const Setting*, std::string>> settings;
  for (const Setting* setting : Setting::all()) {
    if (const auto found = values.find(setting); found != values.end() && found->second) {
      settings.emplace_back(setting, *found->second);
    }
  }
  return settings;
}

/// An entry that the use does not have would be ignored.
void check_against_use(InitUse use, const InitFlags& flags) {
  if (use == InitUse::Network && !(flags.accounts.empty() && flags.collections.empty())) {
    throw UsageError("--use network stores everything: leave out --account and --collection");
  }
  if (use == InitUse::Collections && !flags.accounts.empty()) {
    throw UsageError("--use collections stores all accounts: leave out --account");
  }
}

}  // namespace

void check_use(const std::string& use) {
  if (!uses().contains(use)) {
    throw UsageError(fmt::format("--use: '{}' is not one of accounts, collections, network", use));
  }
}

void check_accounts(const std::vector<std::string>& accounts) {
  const auto named = backfill::read_account_arguments(accounts);
  if (named.problem_count > 0) throw UsageError("--account: " + named.problems.front());
}

void check_collections(const std::vector<std::string>& collections) {
  for (const std::string& name : collections) {
    if (!atproto::is_collection_pattern(name)) {
      throw UsageError(
          fmt::format("--collection: '{}' is neither a collection nor a prefix; examples are "
                      "app.bsky.feed.post and app.bsky.graph.*",
                      name));
    }
  }
}

void check_projections(const std::vector<std::string>& projections) {
  for (const std::string& name : projections) {
    if (feed::find_projection(name) != nullptr) continue;
    std::vector<std::string_view> names;
    for (const feed::Projection* each : feed::projections()) names.push_back(each->name);
    throw UsageError(
        fmt::format("--projection: '{}' is not one of {}", name, fmt::join(names, ", ")));
  }
}

void check_retention(const std::vector<std::string>& retention) {
  for (const std::string& text : retention) retention_rule(text);
}

void check_relays(const std::vector<std::string>& relays) {
  for (const std::string& relay : relays) relay_address({relay, kRelay.flag});
}

void check_database_url(const std::string& url) {
  if (const auto problem = store::connection_string_problem(url)) {
    throw UsageError(fmt::format("{}: '{}': {}; expected postgresql://USER@HOST:PORT/DATABASE",
                                 kDatabase.flag, store::without_password(url), *problem));
  }
}

std::optional<std::string> use_of(const InitFlags& flags) {
  if (flags.use) return flags.use;
  if (!flags.accounts.empty()) return "accounts";
  if (!flags.collections.empty()) return "collections";
  return std::nullopt;
}

std::vector<std::string> missing_flags(const Settings& settings, const InitFlags& flags) {
  std::vector<std::string> missing;
  const auto use = use_of(flags);
  if (!use) missing.emplace_back("--use accounts|collections|network");
  if (use == "accounts" && flags.accounts.empty()) missing.emplace_back("--account WHO");
  if (use == "collections" && flags.collections.empty()) missing.emplace_back("--collection NSID");
  if (!settings.find(kDatabase, flags.database)) missing.emplace_back("--database URL");
  return missing;
}

InitPlan init_plan(const Settings& settings, const InitFlags& flags) {
  if (flags.use) check_use(*flags.use);
  check_accounts(flags.accounts);
  check_collections(flags.collections);
  check_projections(flags.projections);
  check_retention(flags.retention);
  if (const auto missing = missing_flags(settings, flags); !missing.empty()) {
    throw UsageError(fmt::format("needed: {}", fmt::join(missing, ", ")));
  }
  InitPlan plan;
  plan.use = uses().at(*use_of(flags));
  check_against_use(plan.use, flags);
  plan.accounts = backfill::read_account_arguments(flags.accounts).names;
  plan.collections = flags.collections;
  plan.projections = flags.projections;
  std::transform(flags.retention.begin(), flags.retention.end(), std::back_inserter(plan.retention),
                 retention_rule);
  plan.database = settings.find(kDatabase, flags.database)->value;
  check_database_url(plan.database);
  for (const Found& relay : relays(settings, flags.relays)) relay_address(relay);
  plan.settings =
      file_settings(flags, plan.database, relays_of(settings, flags).value_or(kDefaultRelay));
  return plan;
}

}  // namespace skua::cli
