#include "backfill/did_arguments.hpp"

#include <algorithm>
#include <future>
#include <string_view>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "base/seeded_hash.hpp"
#include "base/text.hpp"

namespace skua::backfill {

namespace {

constexpr std::size_t kProblemsShown = 100;
constexpr std::size_t kHandlesAtOnce = 16;

/// Returns the argument, shortened and made safe for a message.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 80;
  const bool is_plain = is_utf8(text) && std::all_of(text.begin(), text.end(), [](char c) {
                          return static_cast<unsigned char>(c) >= ' ' && c != '\x7f';
                        });
  if (!is_plain) return "this text";
  return text.size() > kMost ? "this text" : fmt::format("'{}'", text);
}

class Collector {
 public:
  /// `where` precedes the problem. It is `line 3 of FILE: `, or empty.
  void add(std::string_view text, const std::string& where) {
    auto name = atproto::parse_account_name(text);
    if (name) {
      add_name(*std::move(name));
    } else {
      add_problem(fmt::format("{}{} is {}", where, quoted(text), name.error().message()));
    }
  }

  void add_name(std::string name) {
    if (seen_.insert(name).second) accounts_.names.push_back(std::move(name));
  }

  void add_problem(std::string problem) {
    if (++accounts_.problem_count <= kProblemsShown) {
      accounts_.problems.push_back(std::move(problem));
    }
  }

  NamedAccounts take() { return std::move(accounts_); }

 private:
  NamedAccounts accounts_;
  boost::unordered_flat_set<std::string, SeededHash> seen_;
};

/// Returns the line without its comment. A # inside a word is part of the word, which is then
/// invalid.
std::string_view without_comment(std::string_view line) {
  for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  }
  return line;
}

bool stays(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-._~:").find(c) != std::string_view::npos;
}

}  // namespace

NamedAccounts read_account_arguments(std::span<const std::string> arguments) {
  Collector collector;
  for (const auto& argument : arguments) collector.add(argument, "");
  return collector.take();
}

NamedAccounts read_account_lines(std::istream& in, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  Collector collector;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::string_view text = line;
    if (number == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    text = trimmed(without_comment(text));
    if (!text.empty()) collector.add(text, fmt::format("line {} of {}: ", number, file));
  }
  return collector.take();
}

NamedAccounts resolve_accounts(const std::vector<std::string>& names,
                               const documents::HandleCheck& check) {
  Collector collector;
  for (std::size_t begin = 0; begin < names.size(); begin += kHandlesAtOnce) {
    const auto end = std::min(names.size(), begin + kHandlesAtOnce);
    std::vector<std::future<Result<std::string>>> answers;
    for (auto i = begin; i < end; ++i) {
      // A DID needs no look-up, so it needs no thread.
      const bool is_did = names[i].starts_with("did:");
      answers.push_back(std::async(is_did ? std::launch::deferred : std::launch::async,
                                   [&check, &name = names[i], is_did]() -> Result<std::string> {
                                     if (is_did) return name;
                                     return check.resolve(name);
                                   }));
    }
    for (auto i = begin; i < end; ++i) {
      auto did = answers[i - begin].get();
      if (did) {
        collector.add_name(*std::move(did));
      } else {
        collector.add_problem(fmt::format("{}: {}", names[i], did.error().message()));
      }
    }
  }
  return collector.take();
}

std::string query_text(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (stays(c)) {
      escaped += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    escaped += '%';
    escaped += kDigits[byte >> 4];
    escaped += kDigits[byte & 15];
  }
  return escaped;
}

}  // namespace skua::backfill
