#include "init_plan.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "addresses.hpp"
#include "atproto/collection_filter.hpp"
#include "atproto/syntax.hpp"
#include "backfill/did_arguments.hpp"
#include "feed/projections/projection.hpp"

namespace skua::cli {
namespace {

std::string relays_of(const Invocation& invocation) {
  Texts relays;
  for (const SettingValue& relay : invocation[kRelay]) {
    relay_address(relay);
    relays.push_back(relay.value);
  }
  return relays.empty() ? kDefaultRelay : fmt::format("{}", fmt::join(relays, " "));
}

/// The settings of the file, in the order of their declarations.
std::vector<std::pair<const OptionText*, std::string>> file_settings(const Invocation& invocation,
                                                                     const std::string& relays) {
  const std::array<const OptionText*, 4> of_network = {&kPlc, &kDns, &kCaFile, &kAllowPrivateHosts};
  std::vector<std::pair<const OptionText*, std::string>> settings;
  for (const OptionText* setting : all_settings()) {
    if (setting == &kRelay) {
      settings.emplace_back(setting, relays);
    } else if (setting == &kDatabase) {
      settings.emplace_back(setting, invocation.find(kDatabase)->value);
    } else if (std::find(of_network.begin(), of_network.end(), setting) != of_network.end() &&
               invocation.is_given(*setting)) {
      settings.emplace_back(setting, invocation.find(*setting)->value);
    }
  }
  return settings;
}

/// An entry that the use does not have would be ignored.
void check_against_use(const InitPlan& plan) {
  if (plan.use == InitUse::Network && !(plan.accounts.empty() && plan.collections.empty())) {
    throw UsageError("--use network stores everything: leave out --account and --collection");
  }
  if (plan.use == InitUse::Collections && !plan.accounts.empty()) {
    throw UsageError("--use collections stores all accounts: leave out --account");
  }
}

}  // namespace

InitUse read_use(const SettingValue& given) {
  return one_of<InitUse>({{"accounts", InitUse::Accounts},
                          {"collections", InitUse::Collections},
                          {"network", InitUse::Network}})(given);
}

std::string read_account(const SettingValue& given) {
  const std::array accounts = {given.value};
  auto named = backfill::read_account_arguments(accounts);
  if (named.problem_count > 0) {
    throw UsageError(fmt::format("{}: {}", given.origin, named.problems.front()));
  }
  return named.names.front();
}

std::string read_collection_pattern(const SettingValue& given) {
  if (!atproto::is_collection_pattern(given.value)) {
    throw UsageError(
        fmt::format("{}: '{}' is neither a collection nor a prefix; examples are "
                    "app.bsky.feed.post and app.bsky.graph.*",
                    given.origin, given.value));
  }
  return given.value;
}

std::string read_projection(const SettingValue& given) {
  if (feed::find_projection(given.value) != nullptr) return given.value;
  std::vector<std::string> names;
  for (const feed::Projection* each : feed::projections()) names.emplace_back(each->name);
  refuse_word(given, names);
}

std::pair<std::string, std::string> read_retention(const SettingValue& given) {
  const std::size_t equals = given.value.find('=');
  if (equals == std::string::npos || !atproto::is_nsid(given.value.substr(0, equals))) {
    throw UsageError(
        fmt::format("{}: '{}' is not COLLECTION=DURATION; an example is app.bsky.feed.like=90d",
                    given.origin, given.value));
  }
  const std::string keep = given.value.substr(equals + 1);
  retention_time({keep, given.origin});
  return {given.value.substr(0, equals), keep};
}

std::optional<InitUse> use_of(const Invocation& invocation) {
  if (const auto use = invocation[kUse]) return use;
  if (invocation.is_given(kInitAccounts)) return InitUse::Accounts;
  if (invocation.is_given(kInitCollections)) return InitUse::Collections;
  return std::nullopt;
}

std::vector<std::string> missing_options(const Invocation& invocation) {
  std::vector<std::string> missing;
  const auto require = [&](const OptionText& option) {
    if (!invocation.has(option)) missing.push_back(option.name + " " + option.type);
  };
  const auto use = use_of(invocation);
  if (!use) require(kUse);
  if (use == InitUse::Accounts) require(kInitAccounts);
  if (use == InitUse::Collections) require(kInitCollections);
  require(kDatabase);
  return missing;
}

InitPlan init_plan(const Invocation& invocation) {
  InitPlan plan;
  plan.accounts = invocation[kInitAccounts];
  plan.collections = invocation[kInitCollections];
  plan.projections = invocation[kProjections];
  plan.retention = invocation[kRetention];
  if (const auto missing = missing_options(invocation); !missing.empty()) {
    throw UsageError(fmt::format("needed: {}", fmt::join(missing, ", ")));
  }
  plan.use = *use_of(invocation);
  check_against_use(plan);
  plan.database = *invocation[kDatabase];
  plan.settings = file_settings(invocation, relays_of(invocation));
  return plan;
}

}  // namespace skua::cli
