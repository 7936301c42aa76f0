#include "filter/filter_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "atproto/collection_filter.hpp"
#include "atproto/syntax.hpp"

namespace skua::filter {
namespace {

constexpr const char* kBlanks = " \t\r";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// What a line says, without comment and blanks around it.
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

}  // namespace

void add_to_filter(store::FilterContent& content, const std::string& name) {
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

void normalize(store::FilterContent& content) {
  sort_unique(content.collections);
  sort_unique(content.dids);
  sort_unique(content.lists);
}

store::FilterContent merged(const store::FilterContent& a, const store::FilterContent& b) {
  store::FilterContent both = a;
  both.collections.insert(both.collections.end(), b.collections.begin(), b.collections.end());
  both.dids.insert(both.dids.end(), b.dids.begin(), b.dids.end());
  both.lists.insert(both.lists.end(), b.lists.begin(), b.lists.end());
  normalize(both);
  return both;
}

store::FilterContent read_filter_lines(std::istream& in, const std::string& file) {
  store::FilterContent content;
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

store::FilterContent FilterFile::read() {
  // The stamp is read before the text, so that the next look notices a change between the two.
  seen_ = access_.stamp(path_);
  read_ = seen_;
  std::istringstream in(access_.read(path_));
  return read_filter_lines(in, path_);
}

std::optional<store::FilterContent> FilterFile::look() {
  const auto stamp = access_.stamp(path_);
  const bool stayed = stamp == std::exchange(seen_, stamp);
  if (!stamp || !stayed || stamp == read_) return std::nullopt;
  return read();
}

}  // namespace skua::filter
