#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace skua::exports {

/// The file cannot be used, or cannot be written. The message says what to do.
class FileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The state of an export that has not finished.
struct Checkpoint {
  /// A text that is equal only for exports of the same rows in the same form.
  std::string request;
  /// The time from which on rows are exported (Selection::since).
  std::optional<std::string> since = std::nullopt;
  /// The bounds of the keys of the export, and the first key that the file lacks.
  std::int64_t first_key = 0;
  std::int64_t last_key = 0;
  std::int64_t next_key = 0;
  std::uint64_t rows = 0;
  /// The size of the file with exactly the rows of the keys before `next_key`.
  std::uint64_t bytes = 0;
};

/// The file of an export. Until it is complete, its rows are in FILE.part, and the checkpoint in
/// FILE.checkpoint. `save` writes both to the disk; a continued export first cuts FILE.part to the
/// size of the checkpoint. `finish` renames FILE.part to FILE, so that FILE is always complete.
/// All functions throw FileError. Owned by one thread. The object locks FILE.part: a second export
/// to the same file fails.
class ExportFile {
 public:
  enum class Start : std::uint8_t {
    /// The export begins. Fails if FILE or an unfinished export exists.
    New,
    /// The export begins. FILE is replaced at the end, and an unfinished export is lost.
    Replace,
    /// An unfinished export continues. Without a checkpoint the export begins; it fails if FILE
    /// exists.
    Resume
  };

  ExportFile(std::filesystem::path file, Start start);
  /// Writes nothing: an unfinished export stays as it was at the last `save`.
  ~ExportFile();
  ExportFile(const ExportFile&) = delete;
  ExportFile& operator=(const ExportFile&) = delete;

  /// Whether the export to continue had written all rows and given the file its name, so that
  /// nothing is left to do.
  bool is_complete() const { return descriptor_ < 0; }
  /// Returns the checkpoint of the export that continues.
  const std::optional<Checkpoint>& continued() const { return continued_; }

  /// Appends text, which a buffer of a mebibyte collects.
  void write(std::string_view text);
  /// The number of bytes that the file has with the buffer.
  std::uint64_t size() const { return size_ + buffer_.size(); }
  /// Writes all text to the disk, and then the checkpoint, whose `bytes` the function sets.
  void save(Checkpoint checkpoint);
  /// Writes all text to the disk, gives the file its name, and removes the checkpoint.
  void finish();

 private:
  void flush();

  const std::filesystem::path file_;
  const std::filesystem::path part_;
  const std::filesystem::path checkpoint_;
  int descriptor_ = -1;
  std::optional<Checkpoint> continued_;
  std::string buffer_;
  std::uint64_t size_ = 0;
};

}  // namespace skua::exports
