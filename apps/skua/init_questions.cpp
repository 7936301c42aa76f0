#include "init_questions.hpp"

#include <algorithm>
#include <istream>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "addresses.hpp"
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

/// Asks for the value of an option, until it is well-formed.
template <class T>
void ask_for(Questions& questions, Invocation& invocation, const Option<T>& option,
             const std::string& question, const std::string& otherwise = "") {
  const std::string answer = questions.ask(question, otherwise, [&](const std::string& line) {
    option.read({line, option.name});
  });
  invocation.give(option, {answer});
}

/// The same for a list. `example`: of an answer, if one is needed.
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

}  // namespace skua::cli
