#include "query_list.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "command_line/display_text.hpp"
#include "settings.hpp"

namespace skua::cli {

namespace {

/// The parts of a bsky.app URL that surround the account and the key of a record.
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

/// Returns the AT-URI of a page of bsky.app. `path` is the URL after the host.
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
constexpr std::array<QueryArgument, 10> kArguments = {{
    {"account", "an account", kAccountForm, "bsky.app", read_account},
    {"other", "another account", kAccountForm, "atproto.com", read_account},
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

std::string usage_of(const NamedQuery& query) {
  std::string text = query.name;
  for (const std::string& argument : query.arguments) text += " " + shown_name(argument);
  return text;
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

namespace {

/// Returns whether a text begins with four numbers, as bsky.backlinks writes the column page_key.
bool is_page_key(std::string_view text) {
  for (int i = 0; i < 4; ++i) {
    const std::string_view number = text.substr(0, text.find(' '));
    std::int64_t value = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    if (read.ec != std::errc() || read.ptr != number.data() + number.size()) return false;
    if (number.size() == text.size()) return false;
    text.remove_prefix(number.size() + 1);
  }
  return is_utf8(text);
}

/// Returns whether a text is a number as bsky.thread writes the column place, or zero.
bool is_place(std::string_view text) {
  std::int64_t place = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), place);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && place >= 0;
}

/// Returns whether a text can be a reason of a notification, such as `like-via-repost`.
bool is_reason(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

/// Returns whether the argument `before` of a query is a time. Otherwise it is a text of the column
/// page_key.
bool is_before_a_time(const NamedQuery& query) {
  return query.statement.find("(/*before*/ null)::timestamptz") != std::string::npos;
}

}  // namespace

bool takes(const NamedQuery& query, std::string_view option) {
  return std::find(query.options.begin(), query.options.end(), option) != query.options.end();
}

std::string flag_of(std::string_view option) {
  std::string flag = "--";
  for (const char c : option) flag += c == '_' ? '-' : c;
  return flag;
}

QueryOptions read_options(const NamedQuery& query, const QueryOptions& given, bool are_flags) {
  const auto name = [are_flags](std::string_view option) {
    return are_flags ? flag_of(option) : std::string(option);
  };
  QueryOptions options = given;
  if (const auto viewer = options.find("viewer"); viewer != options.end()) {
    auto account = query_argument("account").read(viewer->second);
    if (!account) {
      throw UsageError(fmt::format("{}: '{}' is not an account: give {}", name("viewer"),
                                   printable(viewer->second, 200), query_argument("account").form));
    }
    viewer->second = std::move(*account);
  }
  if (const auto before = options.find("before"); before != options.end()) {
    if (is_before_a_time(query) && !parse_datetime(before->second)) {
      throw UsageError(
          fmt::format("{}: '{}' is not a time such as "
                      "2026-07-04T14:38:08.085434+00:00, which JSON and CSV contain",
                      name("before"), printable(before->second, 200)));
    }
    if (!is_before_a_time(query) && !is_page_key(before->second)) {
      throw UsageError(fmt::format("{}: '{}' is not a text of the column page_key", name("before"),
                                   printable(before->second, 200)));
    }
  }
  if (const auto after = options.find("after"); after != options.end()) {
    if (!is_place(after->second)) {
      throw UsageError(fmt::format("{}: '{}' is not a number of the column place", name("after"),
                                   printable(after->second, 200)));
    }
  }
  if (const auto last = options.find("last"); last != options.end()) {
    const bool has_places = takes(query, "after");
    const char* const needed = has_places ? "after" : "before";
    if (options.find(needed) == options.end()) {
      throw UsageError(fmt::format("{} needs {}: give the {} and the uri of the last row",
                                   name("last"), name(needed), has_places ? "place" : "sort_at"));
    }
    auto uri = read_record(last->second);
    if (!uri) {
      throw UsageError(fmt::format("{}: '{}' is not a URI of the column uri", name("last"),
                                   printable(last->second, 200)));
    }
    last->second = std::move(*uri);
  }
  if (const auto reason = options.find("last_reason"); reason != options.end()) {
    if (options.find("last") == options.end()) {
      throw UsageError(
          fmt::format("{} needs {}: give the sort_at, the uri and the reason of the last row",
                      name("last_reason"), name("last")));
    }
    if (!is_reason(reason->second)) {
      throw UsageError(fmt::format("{}: '{}' is not a text of the column reason",
                                   name("last_reason"), printable(reason->second, 200)));
    }
  }
  return options;
}

QueryOptions options_after(const NamedQuery& query, const QueryOptions& options,
                           const std::function<std::string(std::string_view column)>& value) {
  if (takes(query, "after")) {
    if (options.find("after") == options.end()) return {};
    return {{"after", value("place")}, {"last", value("uri")}};
  }
  if (!takes(query, "before")) return {};
  if (!takes(query, "last")) return {{"before", value("page_key")}};
  QueryOptions next{{"before", value("sort_at")}, {"last", value("uri")}};
  if (takes(query, "last_reason")) next["last_reason"] = value("reason");
  return next;
}

namespace {

bool take_prefix(std::string_view& line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  line.remove_prefix(prefix.size());
  return true;
}

/// Removes the first line of `text` and returns the line without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Reads a need, which is the text after `-- needs `.
QueryNeed parse_need(std::string_view text) {
  using Kind = QueryNeed::Kind;
  constexpr std::string_view kEffect = "; without ";
  std::string_view name = text.substr(0, text.find(kEffect));
  std::string_view without = text.substr(name.size());
  if (!take_prefix(without, kEffect) || without.find(", ") == without.npos) {
    throw std::invalid_argument(fmt::format("a need without an effect: {}", text));
  }
  without.remove_prefix(without.find(", ") + 2);
  if (name == "labels") return {Kind::Labels, "", std::string(without)};
  if (take_prefix(name, "projection ")) {
    return {Kind::Projection, std::string(name), std::string(without)};
  }
  if (take_prefix(name, "index ")) {
    constexpr std::string_view kPopular = " for popular subjects";
    const bool is_for_popular = name.ends_with(kPopular);
    if (is_for_popular) name.remove_suffix(kPopular.size());
    return {is_for_popular ? Kind::FastIndex : Kind::Index, std::string(name),
            std::string(without)};
  }
  throw std::invalid_argument(fmt::format("an unknown need: {}", text));
}

/// Reads the query of a block, whose first line is the name.
void read_block(NamedQuery& query, std::string_view& document) {
  while (!document.empty()) {
    std::string_view line = take_line(document);
    if (line == "```") break;
    if (query.name.empty() && take_prefix(line, "-- ")) {
      query.name = line;
    } else if (query.statement.empty() && take_prefix(line, "-- needs ")) {
      query.needs.push_back(parse_need(line));
    } else {
      query.statement += fmt::format("{}\n", line);
    }
  }
  query.statement.erase(query.statement.find_last_not_of(";\n") + 1);
  for (const StatementPart& part : parts_of(query.statement)) {
    if (part.kind == StatementPart::Kind::Limit) {
      std::int64_t limit = 0;
      std::from_chars(part.text.data(), part.text.data() + part.text.size(), limit);
      query.limit = limit;
    } else if (part.kind == StatementPart::Kind::Argument &&
               std::find(query.arguments.begin(), query.arguments.end(), part.text) ==
                   query.arguments.end()) {
      query.arguments.emplace_back(part.text);
    } else if (part.kind == StatementPart::Kind::Option) {
      query.options.emplace_back(part.text);
    }
  }
}

}  // namespace

std::vector<NamedQuery> parse_queries(std::string_view document) {
  std::vector<NamedQuery> queries;
  NamedQuery next;
  while (!document.empty()) {
    std::string_view line = take_line(document);
    if (take_prefix(line, "## ")) {
      next.group = line;
    } else if (take_prefix(line, "### ")) {
      next.title = line;
      next.description.clear();
    } else if (line == "```sql") {
      NamedQuery query = next;
      read_block(query, document);
      queries.push_back(std::move(query));
    } else if (!line.empty()) {
      next.description += fmt::format("{}{}", next.description.empty() ? "" : " ", line);
    }
  }
  return queries;
}

const std::vector<NamedQuery>& named_queries() {
  static const std::vector<NamedQuery> queries = parse_queries(queries_document());
  return queries;
}

const NamedQuery* find_query(std::string_view name) {
  const auto& queries = named_queries();
  const auto found = std::find_if(queries.begin(), queries.end(),
                                  [name](const NamedQuery& query) { return query.name == name; });
  return found == queries.end() ? nullptr : &*found;
}

namespace {

constexpr std::string_view kArgumentMark = ":'";
constexpr std::string_view kLimitMark = "/*limit*/ ";
constexpr std::string_view kDigits = "0123456789";
constexpr std::array<std::string_view, 5> kOptionMarks = {"/*viewer*/ null", "/*before*/ null",
                                                          "/*after*/ null", "/*last*/ null",
                                                          "/*last_reason*/ null"};

/// Returns the first mark of an optional argument in a statement, and its place; the end of the
/// statement without one.
std::pair<std::size_t, std::string_view> find_option(std::string_view statement) {
  std::pair<std::size_t, std::string_view> first{statement.size(), ""};
  for (const std::string_view mark : kOptionMarks) {
    const std::size_t place = statement.find(mark);
    if (place < first.first) first = {place, mark};
  }
  return first;
}

/// Returns the statement with `argument(i)` as its argument number i, and a text for the limit. The
/// numbers of the arguments in `options` follow.
template <class Argument>
std::string filled_statement(const NamedQuery& query, const std::optional<std::string>& limit,
                             const QueryOptions& options, Argument argument) {
  std::string sql;
  for (const StatementPart& part : parts_of(query.statement)) {
    switch (part.kind) {
      case StatementPart::Kind::Text:
        sql += part.text;
        break;
      case StatementPart::Kind::Argument: {
        const auto place = std::find(query.arguments.begin(), query.arguments.end(), part.text);
        sql += argument(static_cast<std::size_t>(place - query.arguments.begin()));
        break;
      }
      case StatementPart::Kind::Option: {
        const auto option = options.find(part.text);
        sql += option == options.end()
                   ? "null"
                   : argument(query.arguments.size() +
                              static_cast<std::size_t>(std::distance(options.begin(), option)));
        break;
      }
      case StatementPart::Kind::Limit:
        sql += limit.value_or("null");
    }
  }
  if (!query.limit && limit) sql += fmt::format("\nlimit {}", *limit);
  return sql;
}

std::string literal(std::string_view value) {
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

/// Returns the name of a column, which is the last word of its expression.
std::string column_name(std::string_view expression) {
  const std::size_t end = expression.find_last_not_of(" \n") + 1;
  const std::size_t before = expression.find_last_of(" .\n", end - 1);
  const std::size_t begin = before == expression.npos ? 0 : before + 1;
  return std::string(expression.substr(begin, end - begin));
}

}  // namespace

std::vector<StatementPart> parts_of(std::string_view statement) {
  std::vector<StatementPart> parts;
  while (!statement.empty()) {
    const std::size_t argument = statement.find(kArgumentMark);
    const std::size_t limit = statement.find(kLimitMark);
    const auto [option, mark] = find_option(statement);
    const std::size_t text = std::min({argument, limit, option});
    if (text > 0) parts.push_back({StatementPart::Kind::Text, statement.substr(0, text)});
    statement.remove_prefix(text);
    if (text == argument) {
      statement.remove_prefix(kArgumentMark.size());
      const std::size_t end = statement.find('\'');
      parts.push_back({StatementPart::Kind::Argument, statement.substr(0, end)});
      statement.remove_prefix(std::min(end, statement.size() - 1) + 1);
    } else if (text == limit) {
      statement.remove_prefix(kLimitMark.size());
      const std::size_t end = std::min(statement.find_first_not_of(kDigits), statement.size());
      parts.push_back({StatementPart::Kind::Limit, statement.substr(0, end)});
      statement.remove_prefix(end);
    } else if (!mark.empty() && text == option) {
      parts.push_back({StatementPart::Kind::Option, mark.substr(2, mark.find("*/") - 2)});
      statement.remove_prefix(mark.size());
    }
  }
  return parts;
}

std::string statement_with_parameters(const NamedQuery& query, bool has_limit,
                                      const QueryOptions& options) {
  std::optional<std::string> limit;
  if (has_limit) limit = fmt::format("${}::int4", query.arguments.size() + options.size() + 1);
  return filled_statement(query, limit, options,
                          [](std::size_t i) { return fmt::format("${}::text", i + 1); });
}

std::string statement_with_values(const NamedQuery& query, const std::vector<std::string>& values,
                                  std::optional<std::int64_t> limit, const QueryOptions& options) {
  std::vector<std::string> all = values;
  for (const auto& [name, value] : options) all.push_back(value);
  const auto limit_text = limit ? std::optional(std::to_string(*limit)) : std::nullopt;
  return filled_statement(query, limit_text, options,
                          [&](std::size_t i) { return literal(all.at(i)); }) +
         ";\n";
}

std::vector<std::string> columns_of(std::string_view statement) {
  constexpr std::string_view kSelect = "select ";
  constexpr std::string_view kDistinct = "distinct ";
  statement.remove_prefix(std::min(statement.find(kSelect) + kSelect.size(), statement.size()));
  if (statement.starts_with(kDistinct)) statement.remove_prefix(kDistinct.size());
  std::vector<std::string> columns;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= statement.size(); ++i) {
    const std::string_view rest = statement.substr(i);
    const bool is_end =
        depth == 0 && (rest.empty() || rest.starts_with(" from ") || rest.starts_with("\nfrom "));
    if (is_end || (depth == 0 && rest.front() == ',')) {
      columns.push_back(column_name(statement.substr(begin, i - begin)));
      begin = i + 1;
    }
    if (is_end) break;
    if (rest.front() == '(') ++depth;
    if (rest.front() == ')') --depth;
  }
  return columns;
}

}  // namespace skua::cli
