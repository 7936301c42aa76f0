#include "query_arguments.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include <fmt/format.h>

#include "atproto/account_name.hpp"
#include "atproto/syntax.hpp"
#include "atproto/uri.hpp"
#include "base/utf8.hpp"
#include "settings.hpp"

namespace skua::cli {
namespace {

/// Where the URLs of bsky.app name records.
struct RecordPage {
  std::string_view before;  // the account
  std::string_view after;
  std::string_view collection;
};
constexpr std::array<RecordPage, 4> kRecordPages = {{
    {"/profile/", "/post/", "app.bsky.feed.post"},
    {"/profile/", "/feed/", "app.bsky.feed.generator"},
    {"/profile/", "/lists/", "app.bsky.graph.list"},
    {"/starter-pack/", "/", "app.bsky.graph.starterpack"},
}};
constexpr std::string_view kPostPart = "/app.bsky.feed.post/";

std::optional<std::string> read_account(std::string_view text) {
  auto name = atproto::parse_account_name(text);
  if (!name) return std::nullopt;
  return std::move(*name);
}

/// The AT-URI of a page of bsky.app. `path` begins behind the host.
std::optional<std::string> record_of_page(std::string_view path) {
  path = path.substr(0, path.find_first_of("?#"));
  for (const RecordPage& page : kRecordPages) {
    if (!path.starts_with(page.before)) continue;
    const std::string_view rest = path.substr(page.before.size());
    const std::string_view who = rest.substr(0, rest.find('/'));
    std::string_view rkey = rest.substr(who.size());
    if (!rkey.starts_with(page.after)) continue;
    rkey = rkey.substr(page.after.size(), rkey.find('/', page.after.size()) - page.after.size());
    const auto name = read_account(who);
    if (!name || !atproto::is_record_key(rkey)) return std::nullopt;
    return fmt::format("at://{}/{}/{}", *name, page.collection, rkey);
  }
  return std::nullopt;
}

std::optional<std::string> read_record(std::string_view text) {
  for (const std::string_view host : {"https://bsky.app", "http://bsky.app", "bsky.app"}) {
    if (text.starts_with(host) && text.substr(host.size()).starts_with('/')) {
      return record_of_page(text.substr(host.size()));
    }
  }
  const auto uri = atproto::parse_at_uri(text);
  if (!uri || uri->collection.empty() || uri->rkey.empty()) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> read_post(std::string_view text) {
  auto uri = read_record(text);
  if (uri && uri->find(kPostPart) == std::string::npos) return std::nullopt;
  return uri;
}

std::optional<std::string> read_record_or_account(std::string_view text) {
  auto uri = read_record(text);
  return uri ? uri : read_account(text);
}

std::optional<std::string> read_words(std::string_view text) {
  const auto is_of_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  if (!is_utf8(text) || std::none_of(text.begin(), text.end(), is_of_word)) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> read_tag(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('#'), text.size()));
  if (text.empty() || !is_utf8(text)) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> read_link(std::string_view text) {
  if (!atproto::is_uri(text) || !is_utf8(text)) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> read_label(std::string_view text) {
  constexpr std::size_t kLongest = 128;
  if (text.empty() || text.size() > kLongest || !is_utf8(text) ||
      text.find_first_of(" \t\r\n") != text.npos) {
    return std::nullopt;
  }
  return std::string(text);
}

constexpr std::string_view kAccountForm = "a DID, a handle, or the bsky.app URL of a profile";
constexpr std::string_view kPostExample = "https://bsky.app/profile/bsky.app/post/3l6oveex3ii2l";
constexpr std::array<QueryArgument, 9> kArguments = {{
    {"account", "an account", kAccountForm, "bsky.app", read_account},
    {"labeler", "the account of a labeler", kAccountForm, "did:plc:ar7c4by46qjdydhdevvrndac",
     read_account},
    {"post", "a post", "an AT-URI (at://ACCOUNT/app.bsky.feed.post/RKEY) or a bsky.app URL",
     kPostExample, read_post},
    {"record", "a record",
     "an AT-URI (at://ACCOUNT/COLLECTION/RKEY), or the bsky.app URL of a post, feed, list or "
     "starter pack",
     kPostExample, read_record},
    {"target", "a record or an account",
     "an AT-URI, a DID, a handle, or the bsky.app URL of a post, feed, list, starter pack or "
     "profile",
     kPostExample, read_record_or_account},
    {"words", "text to search for",
     "words that all must occur; \"a phrase\", or and -without are possible", "'cat or dog'",
     read_words},
    {"tag", "a tag", "a word with or without #", "art", read_tag},
    {"link", "a link", "a URL with its scheme, exactly as posts have it",
     "https://bsky.social/about", read_link},
    {"label", "a label", "its value, at most 128 bytes without blanks", "spam", read_label},
}};

}  // namespace

const QueryArgument& query_argument(std::string_view name) {
  const auto* const found =
      std::find_if(kArguments.begin(), kArguments.end(),
                   [name](const QueryArgument& argument) { return argument.name == name; });
  if (found == kArguments.end()) {
    throw std::out_of_range(fmt::format("docs/queries.md: an unknown argument '{}'", name));
  }
  return *found;
}

std::string argument_help(const QueryArgument& argument) {
  std::string help = fmt::format("{}: {}", argument.meaning, argument.form);
  help.front() = static_cast<char>(help.front() - 'a' + 'A');
  return help;
}

std::string shown_name(std::string_view argument) {
  std::string shown(argument);
  for (char& c : shown) c = static_cast<char>(c - 'a' + 'A');
  return shown;
}

std::vector<std::string> read_arguments(const NamedQuery& query,
                                        const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < query.arguments.size(); ++i) {
    const QueryArgument& argument = query_argument(query.arguments[i]);
    auto value = argument.read(texts.at(i));
    if (!value) {
      throw UsageError(fmt::format("skua query {}: '{}' is not {}: give {}, such as {}", query.name,
                                   printable(texts[i], 200), argument.meaning, argument.form,
                                   argument.example));
    }
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace skua::cli
