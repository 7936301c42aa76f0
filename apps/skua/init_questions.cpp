#include "init_questions.hpp"

#include <algorithm>
#include <istream>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "base/ascii.hpp"
#include "feed/projections/projection.hpp"

namespace skua::cli {
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
  for (const feed::Projection* each : feed::projections()) {
    text += fmt::format("  {:<14} {}\n", each->name, each->help);
  }
  return text;
}

/// For a list that must not be empty.
template <class Check>
auto not_empty(Check check, const char* example) {
  return [check, example](const std::vector<std::string>& words) {
    if (words.empty()) throw UsageError(fmt::format("an answer is needed, such as {}", example));
    check(words);
  };
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

void complete_by_questions(Questions& questions, const Settings& settings, InitFlags& flags) {
  if (!use_of(flags)) {
    questions.print(kUses);
    flags.use = questions.ask("Use", "accounts", check_use);
  }
  const std::string use = *use_of(flags);
  if (use == "accounts" && flags.accounts.empty()) {
    flags.accounts = questions.ask_words("Accounts (handles or DIDs)", "",
                                         not_empty(check_accounts, "bsky.app"));
  }
  if (use == "collections" && flags.collections.empty()) {
    flags.collections = questions.ask_words(
        "Collections", "", not_empty(check_collections, "app.bsky.feed.post or app.bsky.graph.*"));
  }
  if (!settings.find(kDatabase, flags.database)) {
    flags.database = questions.ask("Database", "postgresql:///skua", check_database_url);
  }
  if (!settings.find(kRelay, std::nullopt) && flags.relays.empty()) {
    flags.relays = questions.ask_words("Relay", kDefaultRelay, check_relays);
  }
  if (flags.projections.empty()) {
    questions.print(projections_text());
    flags.projections = questions.ask_words("Projections, or nothing", "", check_projections);
  }
  if (flags.retention.empty()) {
    flags.retention = questions.ask_words(
        "Collections whose old records are removed, such as app.bsky.feed.like=90d, or nothing", "",
        check_retention);
  }
}

}  // namespace skua::cli
