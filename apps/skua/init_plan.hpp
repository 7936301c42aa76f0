#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "invocation.hpp"
#include "settings.hpp"

namespace skua::cli {

/// The relay of a plan that names no relay.
inline constexpr const char* kDefaultRelay = "wss://relay1.us-east.bsky.network";

/// The part of the network that a database of Skua stores.
enum class InitUse : std::uint8_t {
  /// The database stores some accounts, with their history.
  Accounts,
  /// The database stores some collections of all accounts.
  Collections,
  Network,
};

/// The checked choices of the user.
struct InitPlan {
  InitUse use = InitUse::Network;
  /// DIDs, and handles in lower case.
  std::vector<std::string> accounts;
  std::vector<std::string> collections;
  std::vector<std::string> projections;
  /// The collections with limited retention, and how long their records are kept, such as 90d.
  std::vector<std::pair<std::string, std::string>> retention;
  std::string database;
  /// The settings of the file, in the order of their declarations.
  std::vector<std::pair<const OptionText*, std::string>> settings;
};

// These are the options of `skua init`. The command adds the answers to its questions to the
// invocation, as if they were on the command line.

InitUse read_use(const SettingValue& given);
std::string read_collection_pattern(const SettingValue& given);
std::string read_projection(const SettingValue& given);
/// Reads COLLECTION=DURATION, such as app.bsky.feed.like=90d.
std::pair<std::string, std::string> read_retention(const SettingValue& given);
/// Reads the name of an account: a DID, or a handle, which is returned in lower case.
std::string read_account(const SettingValue& given);

inline const Option<std::optional<InitUse>> kUse(
    {.name = "--use",
     .type = "accounts|collections|network",
     .meaning = "What is stored: accounts with their history, collections of all accounts, or the "
                "whole network"},
    read_use);
inline const Option<Texts> kInitAccounts({.name = "--account",
                                          .type = "WHO",
                                          .meaning = "An account: " + kWho.meaning +
                                                     "; may be repeated"},
                                         read_account);
inline const Option<Texts> kInitCollections(
    {.name = "--collection",
     .type = "NSID",
     .meaning = "A collection, or a prefix such as app.bsky.graph.*; also limits the records of "
                "accounts; may be repeated"},
    read_collection_pattern);
inline const Option<Texts> kProjections(
    {.name = "--projection",
     .type = "NAME",
     .meaning = "A projection to add, as `skua consumers add` does; may be repeated"},
    read_projection);
inline const Option<std::vector<std::pair<std::string, std::string>>> kRetention(
    {.name = "--retention",
     .type = "COLLECTION=DURATION",
     .meaning = "Keep records of a collection for a time only, as `skua retention set` does; may "
                "be repeated"},
    read_retention);

/// Returns the missing options with their values, such as "--database URL".
std::vector<std::string> missing_options(const Invocation& invocation);

/// Returns the use, which --account and --collection imply; nothing if the options do not determine
/// a use.
std::optional<InitUse> use_of(const Invocation& invocation);

/// Derives the plan from the options. Pure, except for the environment. Throws UsageError if
/// options are missing, malformed or contradict each other.
InitPlan init_plan(const Invocation& invocation);

/// Asks a person questions, one line each.
class Questions {
 public:
  Questions(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  /// Asks until `check` accepts the answer. `check` throws UsageError with the reason if it does
  /// not. An empty answer counts as `otherwise`. Throws std::runtime_error at the end of the input.
  std::string ask(const std::string& question, const std::string& otherwise,
                  const std::function<void(const std::string&)>& check);
  /// Asks in the same way for several words, which blanks or commas separate.
  std::vector<std::string> ask_words(
      const std::string& question, const std::string& otherwise,
      const std::function<void(const std::vector<std::string>&)>& check);
  /// Asks a yes-or-no question. Returns false if the answer begins with n, otherwise true.
  bool confirm(const std::string& question);

  void print(const std::string& text);

 private:
  std::istream& in_;
  std::ostream& out_;
};

/// Asks for all values that the command line and the settings do not determine, and adds the
/// answers. Writes nothing.
void complete_by_questions(Questions& questions, Invocation& invocation);

/// Returns the file of settings of a plan: the settings of the plan with their values, and all
/// others commented out. Comments give the meaning and the default of each setting. Pure.
std::string init_file_text(const InitPlan& plan);

/// Writes the file in one step: a reader sees either the former content or the new one. The mode is
/// 0600 if the file contains a password, because other users must not read it, and otherwise 0644.
/// A replaced file keeps its owner, and its mode is not widened; a copy of it stays beside the new
/// file, unless the content is equal. Returns the name of the copy. Throws std::runtime_error, and
/// UsageError if Skua could not read the text.
std::optional<std::filesystem::path> write_init_file(const std::filesystem::path& file,
                                                     const std::string& text, bool has_password);

}  // namespace skua::cli
