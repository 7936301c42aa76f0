#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <stdexcept>
#include <string>

#include "tables/filter_table.hpp"

namespace skua::filter {

/// The error of a filter that a person wrote, as a message for that person.
class FilterError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Adds one name: a collection, a prefix, a DID, or the AT-URI of a list with a DID. FilterError
/// for anything else.
void add_to_filter(tables::FilterContent& content, const std::string& name);
/// Sorts, and leaves each once.
void normalize(tables::FilterContent& content);
/// What either names.
tables::FilterContent merged(const tables::FilterContent& a, const tables::FilterContent& b);

/// Reads lines with one name each. Empty lines and lines that begin with # are ignored, and so is
/// text after a blank and #. FilterError names `file` and the line.
tables::FilterContent read_filter_lines(std::istream& in, const std::string& file);

/// Tells whether a file is still the same.
struct FileStamp {
  std::int64_t modified_ns = 0;
  std::int64_t size = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// How a file is looked at.
struct FileAccess {
  /// Nothing: it is not there.
  std::function<std::optional<FileStamp>(const std::string& path)> stamp;
  /// All of it. Throws FilterError.
  std::function<std::string(const std::string& path)> read;
};
FileAccess file_system();

/// A file that holds a filter, read again when it changes. One thread.
class FilterFile {
 public:
  explicit FilterFile(std::string path, FileAccess access = file_system());

  /// Reads it. Throws FilterError.
  tables::FilterContent read();

  /// To be called regularly. Returns the content after it has changed and then stayed the same from
  /// one call to the next, because another program may be writing it. Nothing: it is unchanged, or
  /// the file is missing. Throws FilterError once for each invalid content.
  std::optional<tables::FilterContent> look();

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const FileAccess access_;
  std::optional<FileStamp> read_;
  std::optional<FileStamp> seen_;
};

/// The filter for users: "app.bsky.feed.post of all accounts". Shows the first ten of many names.
std::string filter_text(const tables::FilterContent& content);

/// The added and removed names of a change, on a line: "+ app.bsky.graph.*, - did:plc:...".
std::string change_text(const tables::FilterChange& change);

}  // namespace skua::filter
