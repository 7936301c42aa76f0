#include "init_plan.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "addresses.hpp"
#include "atproto/collection_filter.hpp"
#include "atproto/syntax.hpp"
#include "backfill/did_arguments.hpp"
#include "base/text.hpp"
#include "consumers/projections/projection.hpp"
#include "settings.hpp"

namespace skua::cli {

namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  throw std::runtime_error(fmt::format("{} cannot be written: {}", file.string(),
                                       std::generic_category().message(error)));
}

/// Returns a text that says what the database stores.
std::string use_text(const InitPlan& plan) {
  switch (plan.use) {
    case InitUse::Accounts:
      return plan.collections.empty() ? "some accounts with their history"
                                      : "some collections of some accounts, with their history";
    case InitUse::Collections:
      return "some collections of all accounts";
    case InitUse::Network:
      break;
  }
  return "the whole network";
}

std::string read_whole(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the first unused name for a copy beside the file.
std::filesystem::path copy_name(const std::filesystem::path& file) {
  for (int number = 1;; ++number) {
    std::filesystem::path copy = file;
    copy += fmt::format(".{}", number);
    if (!std::filesystem::exists(copy)) return copy;
  }
}

/// A new file beside `file`. It either replaces `file` or is removed.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& file)
      : file_(file), name_(file.string() + ".XXXXXX"), descriptor_(::mkstemp(name_.data())) {
    if (descriptor_ < 0) fail(file_, errno);
  }
  ~NewFile() {
    ::close(descriptor_);
    if (!is_done_) ::unlink(name_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& name() const { return name_; }

  void write(std::string_view text) {
    while (!text.empty()) {
      const auto written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(file_, errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) fail(file_, errno);
  }

  void set_mode(mode_t mode) {
    if (::fchmod(descriptor_, mode) != 0) fail(file_, errno);
  }

  /// Only root can give a file to another owner. For other users the file already has the right
  /// owner, so EPERM is ignored.
  void set_owner(uid_t user, gid_t group) {
    if (::fchown(descriptor_, user, group) != 0 && errno != EPERM) fail(file_, errno);
  }

  void replace() {
    if (::rename(name_.c_str(), file_.c_str()) != 0) fail(file_, errno);
    is_done_ = true;
  }

 private:
  const std::filesystem::path file_;
  std::string name_;
  int descriptor_;
  bool is_done_ = false;
};

}  // namespace

namespace {

std::string relays_of(const Invocation& invocation) {
  Texts relays;
  for (const SettingValue& relay : invocation[kRelay]) {
    relay_address(relay);
    relays.push_back(relay.value);
  }
  return relays.empty() ? kDefaultRelay : fmt::format("{}", fmt::join(relays, " "));
}

/// Returns the settings of the file, in the order of their declarations.
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

/// Refuses entries that the chosen use would ignore.
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
  if (consumers::find_projection(given.value) != nullptr) return given.value;
  std::vector<std::string> names;
  for (const consumers::Projection& each : consumers::projections()) names.emplace_back(each.name);
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

namespace {

constexpr const char* kUses =
    "What is stored?\n"
    "  accounts     some accounts, with their history\n"
    "  collections  some collections of all accounts, from now on\n"
    "  network      everything, from now on\n";

std::vector<std::string> words_of(std::string line) {
  std::replace(line.begin(), line.end(), ',', ' ');
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string projections_text() {
  std::string text = "Projections are tables that are computed from the records:\n";
  for (const consumers::Projection& each : consumers::projections()) {
    text += fmt::format("  {:<14} {}\n", each.name, each.help);
  }
  return text;
}

/// Asks for the value of an option until the answer is well-formed.
template <class T>
void ask_for(Questions& questions, Invocation& invocation, const Option<T>& option,
             const std::string& question, const std::string& otherwise = "") {
  const std::string answer = questions.ask(question, otherwise, [&](const std::string& line) {
    option.read({line, option.name});
  });
  invocation.give(option, {answer});
}

/// Asks for the values of a list option. `example` is an example of an answer; it may be empty.
template <class T>
void ask_for_list(Questions& questions, Invocation& invocation, const Option<T>& option,
                  const std::string& question, const std::string& otherwise = "",
                  const char* example = nullptr) {
  const auto check = [&](const std::vector<std::string>& words) {
    if (words.empty() && example != nullptr) {
      throw UsageError(fmt::format("an answer is needed, such as {}", example));
    }
    for (const std::string& word : words) option.read({word, option.name});
  };
  invocation.give(option, questions.ask_words(question, otherwise, check));
}

}  // namespace

std::string Questions::ask(const std::string& question, const std::string& otherwise,
                           const std::function<void(const std::string&)>& check) {
  for (;;) {
    print(otherwise.empty() ? question + ": " : fmt::format("{} [{}]: ", question, otherwise));
    std::string line;
    if (!std::getline(in_, line)) throw std::runtime_error("no answer: nothing was changed");
    std::string answer(trimmed(line));
    if (answer.empty()) answer = otherwise;
    try {
      check(answer);
      return answer;
    } catch (const UsageError& error) {
      print(fmt::format("  {}\n", error.what()));
    }
  }
}

std::vector<std::string> Questions::ask_words(
    const std::string& question, const std::string& otherwise,
    const std::function<void(const std::vector<std::string>&)>& check) {
  return words_of(
      ask(question, otherwise, [&](const std::string& line) { check(words_of(line)); }));
}

bool Questions::confirm(const std::string& question) {
  const std::string answer = ask(question + " [Y/n]", "", [](const std::string&) {});
  return answer.empty() || ascii_lower(answer.front()) != 'n';
}

void Questions::print(const std::string& text) {
  out_ << text << std::flush;
}

void complete_by_questions(Questions& questions, Invocation& invocation) {
  if (!use_of(invocation)) {
    questions.print(kUses);
    ask_for(questions, invocation, kUse, "Use", "accounts");
  }
  const InitUse use = *use_of(invocation);
  if (use == InitUse::Accounts && !invocation.is_given(kInitAccounts)) {
    ask_for_list(questions, invocation, kInitAccounts, "Accounts (handles or DIDs)", "",
                 "bsky.app");
  }
  if (use == InitUse::Collections && !invocation.is_given(kInitCollections)) {
    ask_for_list(questions, invocation, kInitCollections, "Collections", "",
                 "app.bsky.feed.post or app.bsky.graph.*");
  }
  if (!invocation.has(kDatabase)) {
    ask_for(questions, invocation, kDatabase, "Database", "postgresql:///skua");
  }
  if (!invocation.has(kRelay)) {
    invocation.give(kRelay, questions.ask_words("Relay", kDefaultRelay, [](const auto& words) {
      for (const std::string& word : words) relay_address({word, kRelay.name});
    }));
  }
  if (!invocation.is_given(kProjections)) {
    questions.print(projections_text());
    ask_for_list(questions, invocation, kProjections, "Projections, or nothing");
  }
  if (!invocation.is_given(kRetention)) {
    ask_for_list(
        questions, invocation, kRetention,
        "Collections whose old records are removed, such as app.bsky.feed.like=90d, or nothing");
  }
}

std::string init_file_text(const InitPlan& plan) {
  std::string text = fmt::format(
      "# Settings of Skua for {}, written by `skua init`.\n# A setting is looked for in this "
      "order: flag, environment variable, this file, default.\n# The database has the filter, the "
      "projections and the retention: see `skua filter show`,\n# `skua consumers list` and `skua "
      "retention list`.\n",
      use_text(plan));
  for (const auto& [setting, value] : plan.settings) text += "\n" + setting_toml(*setting, value);
  text += "\n# Other settings. To set one, remove the # before its key and change the value.\n";
  for (const OptionText* setting : all_settings()) {
    const bool is_set = std::any_of(plan.settings.begin(), plan.settings.end(),
                                    [&](const auto& each) { return each.first == setting; });
    if (!is_set) text += "\n" + setting_toml(*setting, std::nullopt);
  }
  return text;
}

std::optional<std::filesystem::path> write_init_file(const std::filesystem::path& file,
                                                     const std::string& text, bool has_password) {
  NewFile made(file);
  made.write(text);
  const SettingsFile readable(made.name());
  struct stat former {};
  const bool is_there = ::stat(file.c_str(), &former) == 0;
  mode_t mode = has_password ? 0600 : 0644;
  if (is_there) mode = former.st_mode & (has_password ? 0640U : 0777U);
  made.set_mode(mode);
  std::optional<std::filesystem::path> copy;
  if (is_there) {
    made.set_owner(former.st_uid, former.st_gid);
    if (read_whole(file) == text && (former.st_mode & 0777U) == mode) return std::nullopt;
    copy = copy_name(file);
    std::error_code error;
    std::filesystem::create_hard_link(file, *copy, error);
    if (error) fail(*copy, error.value());
  }
  made.replace();
  return copy;
}

}  // namespace skua::cli
