#include "filter/filter_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "atproto/collection_filter.hpp"
#include "atproto/syntax.hpp"
#include "base/text.hpp"

namespace skua::filter {

namespace {

constexpr const char* kBlanks = " \t\r";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Returns the name in a line, without the comment and the surrounding blanks.
std::string_view name_in(std::string_view line) {
  const auto begin = line.find_first_not_of(kBlanks);
  if (begin == line.npos || line[begin] == '#') return {};
  line.remove_prefix(begin);
  for (auto hash = line.find('#'); hash != line.npos; hash = line.find('#', hash + 1)) {
    if (line[hash - 1] != ' ' && line[hash - 1] != '\t') continue;
    line = line.substr(0, hash);
    break;
  }
  return line.substr(0, line.find_last_not_of(kBlanks) + 1);
}

bool is_list(std::string_view uri) {
  const auto parsed = atproto::parse_at_uri(uri);
  return parsed && atproto::check_account_did(parsed->authority) &&
         parsed->collection == "app.bsky.graph.list" && !parsed->rkey.empty();
}

void sort_unique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileStamp{status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec,
                   status.st_size, status.st_ino};
}

std::string read_whole(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) {
    throw FilterError(
        fmt::format("{} cannot be read: {}", path, std::generic_category().message(errno)));
  }
  return content;
}

constexpr std::size_t kShown = 10;

std::string list_text(const std::vector<std::string>& names, const std::string& before = {}) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + before + names[i];
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

std::vector<std::string> without(const std::vector<std::string>& all,
                                 const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(),
                      std::back_inserter(rest));
  return rest;
}

std::string accounts_text(const tables::FilterContent& content) {
  if (content.dids.empty() && content.lists.empty()) return "all accounts";
  std::string text;
  if (!content.dids.empty()) {
    text = fmt::format("{} ({})", counted(content.dids.size(), "account"), list_text(content.dids));
  }
  if (!content.lists.empty()) {
    text += fmt::format("{}the accounts on {} ({})", text.empty() ? "" : " and ",
                        counted(content.lists.size(), "list"), list_text(content.lists));
  }
  return text;
}

}  // namespace

void add_to_filter(tables::FilterContent& content, const std::string& name) {
  if (name.starts_with("did:")) {
    if (const auto account = atproto::check_account_did(name); !account) {
      throw FilterError(fmt::format("'{}' is {}", name, account.error().message()));
    }
    content.dids.push_back(name);
  } else if (name.starts_with("at://")) {
    if (!is_list(name)) throw FilterError(fmt::format("'{}' is not the URI of a list", name));
    content.lists.push_back(name);
  } else if (atproto::is_collection_pattern(name)) {
    content.collections.push_back(name);
  } else {
    throw FilterError(
        fmt::format("'{}' is neither a collection nor a prefix nor a DID nor a list; examples are "
                    "app.bsky.feed.post, app.bsky.graph.*, did:plc:z72i7hdynmk6r22z27h6tvur and "
                    "at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.graph.list/3kabc",
                    name));
  }
}

void normalize(tables::FilterContent& content) {
  sort_unique(content.collections);
  sort_unique(content.dids);
  sort_unique(content.lists);
}

tables::FilterContent merged(const tables::FilterContent& a, const tables::FilterContent& b) {
  tables::FilterContent both = a;
  both.collections.insert(both.collections.end(), b.collections.begin(), b.collections.end());
  both.dids.insert(both.dids.end(), b.dids.begin(), b.dids.end());
  both.lists.insert(both.lists.end(), b.lists.begin(), b.lists.end());
  normalize(both);
  return both;
}

tables::FilterContent read_filter_lines(std::istream& in, const std::string& file) {
  tables::FilterContent content;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    std::string_view text = line;
    if (number == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    const std::string_view name = name_in(text);
    if (name.empty()) continue;
    try {
      add_to_filter(content, std::string(name));
    } catch (const FilterError& error) {
      throw FilterError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
  }
  normalize(content);
  return content;
}

FileAccess file_system() {
  return {stamp_of, read_whole};
}

FilterFile::FilterFile(std::string path, FileAccess access)
    : path_(std::move(path)), access_(std::move(access)) {}

tables::FilterContent FilterFile::read() {
  // The stamp is read before the text, so that the next call of `look` notices a change between the
  // two reads.
  seen_ = access_.stamp(path_);
  read_ = seen_;
  std::istringstream in(access_.read(path_));
  return read_filter_lines(in, path_);
}

std::optional<tables::FilterContent> FilterFile::look() {
  const auto stamp = access_.stamp(path_);
  const bool stayed = stamp == std::exchange(seen_, stamp);
  if (!stamp || !stayed || stamp == read_) return std::nullopt;
  return read();
}

std::string filter_text(const tables::FilterContent& content) {
  return fmt::format("{} of {}",
                     content.collections.empty() ? "all records" : list_text(content.collections),
                     accounts_text(content));
}

std::string change_text(const tables::FilterChange& change) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& names, const char* sign) {
    if (!names.empty()) text += (text.empty() ? "" : ", ") + list_text(names, sign);
  };
  add(without(change.after.collections, change.before.collections), "+ ");
  add(without(change.before.collections, change.after.collections), "- ");
  add(without(change.after.dids, change.before.dids), "+ ");
  add(without(change.before.dids, change.after.dids), "- ");
  add(without(change.after.lists, change.before.lists), "+ ");
  add(without(change.before.lists, change.after.lists), "- ");
  return text;
}

}  // namespace skua::filter
