#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "settings.hpp"
#include "verification.hpp"

namespace skua::cli {

/// The relay of a plan that names none.
inline constexpr const char* kDefaultRelay = "wss://relay1.us-east.bsky.network";

/// `skua init`: the flags, and then the answers to its questions.
struct InitFlags {
  std::optional<std::string> config = std::nullopt;
  std::optional<std::string> use = std::nullopt;
  std::vector<std::string> accounts = {};
  std::vector<std::string> collections = {};
  std::optional<std::string> database = std::nullopt;
  std::vector<std::string> relays = {};
  std::vector<std::string> projections = {};
  /// COLLECTION=DURATION.
  std::vector<std::string> retention = {};
  VerificationFlags verification = {};
  bool yes = false;
  bool force = false;
};

/// What a database of Skua stores.
enum class InitUse : std::uint8_t {
  /// Some accounts, with their history.
  Accounts,
  /// Some collections of all accounts.
  Collections,
  Network,
};

/// A checked choice.
struct InitPlan {
  InitUse use = InitUse::Network;
  /// DIDs, and handles in lower case.
  std::vector<std::string> accounts;
  std::vector<std::string> collections;
  std::vector<std::string> projections;
  /// Collections, and how long their records are kept, such as 90d.
  std::vector<std::pair<std::string, std::string>> retention;
  std::string database;
  /// The settings of the file, in the order of their declarations.
  std::vector<std::pair<const Setting*, std::string>> settings;
};

// The checks of single values. All throw UsageError, which names the flag and the expected form.

void check_use(const std::string& use);
void check_accounts(const std::vector<std::string>& accounts);
void check_collections(const std::vector<std::string>& collections);
void check_projections(const std::vector<std::string>& projections);
void check_retention(const std::vector<std::string>& retention);
void check_relays(const std::vector<std::string>& relays);
void check_database_url(const std::string& url);

/// The flags that are missing, with their values, such as "--database URL".
std::vector<std::string> missing_flags(const Settings& settings, const InitFlags& flags);

/// The use of the flags: --account and --collection imply one. Nothing: they do not tell.
std::optional<std::string> use_of(const InitFlags& flags);

/// Pure, except for the environment. Throws UsageError if flags are missing, malformed or
/// contradict each other.
InitPlan init_plan(const Settings& settings, const InitFlags& flags);

}  // namespace skua::cli
