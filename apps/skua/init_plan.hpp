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

/// The relay of a plan that names none.
inline constexpr const char* kDefaultRelay = "wss://relay1.us-east.bsky.network";

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
  std::vector<std::pair<const OptionText*, std::string>> settings;
};

// The options of `skua init`. `skua init` adds the answers to its questions to the invocation, as
// if the command line had them.

InitUse read_use(const SettingValue& given);
std::string read_collection_pattern(const SettingValue& given);
std::string read_projection(const SettingValue& given);
/// COLLECTION=DURATION, such as app.bsky.feed.like=90d.
std::pair<std::string, std::string> read_retention(const SettingValue& given);
/// The name of an account: a DID, or a handle in lower case.
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

/// The options that are missing, with their values, such as "--database URL".
std::vector<std::string> missing_options(const Invocation& invocation);

/// The use: --account and --collection imply one. Nothing: they do not tell.
std::optional<InitUse> use_of(const Invocation& invocation);

/// Pure, except for the environment. Throws UsageError if options are missing, malformed or
/// contradict each other.
InitPlan init_plan(const Invocation& invocation);

/// Questions to a person, one line each.
class Questions {
 public:
  Questions(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  /// Asks until `check` accepts the answer; it throws UsageError with the reason otherwise. An
  /// empty answer is `otherwise`. Throws std::runtime_error at the end of the input.
  std::string ask(const std::string& question, const std::string& otherwise,
                  const std::function<void(const std::string&)>& check);
  /// The same for several words, which blanks or commas separate.
  std::vector<std::string> ask_words(
      const std::string& question, const std::string& otherwise,
      const std::function<void(const std::vector<std::string>&)>& check);
  /// Yes unless the answer begins with n.
  bool confirm(const std::string& question);

  void print(const std::string& text);

 private:
  std::istream& in_;
  std::ostream& out_;
};

/// Asks for everything that the command line and the settings leave open, and adds the answers.
/// Writes nothing.
void complete_by_questions(Questions& questions, Invocation& invocation);

/// The file of settings of a plan: its settings with their values, and all others commented out.
/// Each has its meaning and default in comments. Pure.
std::string init_file_text(const InitPlan& plan);

/// Writes the file in one step: a reader sees the former content or the new one. Other users must
/// not read a password: without it the mode is 0644, with it 0600. A file that is replaced keeps
/// its owner, and its mode at most; a copy of it stays beside it, unless it has this content
/// already. Returns the name of the copy. Throws std::runtime_error; UsageError if Skua could not
/// read the text.
std::optional<std::filesystem::path> write_init_file(const std::filesystem::path& file,
                                                     const std::string& text, bool has_password);

}  // namespace skua::cli
