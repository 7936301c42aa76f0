#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <stdexcept>
#include <string>

#include "tables/filter_table.hpp"

namespace skua::filter {

/// The error of a filter that a user wrote. Its message is for the user.
class FilterError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Adds one name: a collection, a prefix, a DID, or the AT-URI of a list with a DID. Throws
/// FilterError for any other name.
void add_to_filter(tables::FilterContent& content, const std::string& name);
/// Sorts the names, and removes duplicates.
void normalize(tables::FilterContent& content);
/// Returns the names of both contents.
tables::FilterContent merged(const tables::FilterContent& a, const tables::FilterContent& b);

/// Reads lines with one name each. Empty lines and lines that begin with # are ignored, and so is
/// text after a blank and #. The message of a FilterError contains `file` and the number of the
/// line.
tables::FilterContent read_filter_lines(std::istream& in, const std::string& file);

/// The properties of a file by which a change is noticed.
struct FileStamp {
  std::int64_t modified_ns = 0;
  std::int64_t size = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The functions that read a file. A test can replace them.
struct FileAccess {
  /// Returns nothing if the file does not exist.
  std::function<std::optional<FileStamp>(const std::string& path)> stamp;
  /// Returns the whole text. Throws FilterError.
  std::function<std::string(const std::string& path)> read;
};
FileAccess file_system();

/// A file that holds a filter, and that is read again when it changes. One thread uses it.
class FilterFile {
 public:
  explicit FilterFile(std::string path, FileAccess access = file_system());

  /// Reads the file. Throws FilterError.
  tables::FilterContent read();

  /// Returns the new content after the file has changed and then stayed the same from one call to
  /// the next, because another program may be writing the file. Returns nothing if the file is
  /// unchanged or missing. Throws FilterError once for each invalid content. Call it regularly.
  std::optional<tables::FilterContent> look();

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const FileAccess access_;
  std::optional<FileStamp> read_;
  std::optional<FileStamp> seen_;
};

/// Describes the filter for users, such as "app.bsky.feed.post of all accounts". Shows the first
/// ten of many names.
std::string filter_text(const tables::FilterContent& content);

/// Describes the added and removed names of a change on one line, such as "+ app.bsky.graph.*, -
/// did:plc:...".
std::string change_text(const tables::FilterChange& change);

}  // namespace skua::filter
