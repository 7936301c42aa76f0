#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"

namespace skua::sim {

/// A capture held in memory, each frame with what serving it needs. Read only once made; any
/// thread.
class CaptureIndex {
 public:
  /// Reads the whole file. Throws std::runtime_error when it cannot be read or is no capture. A
  /// torn tail is left out and told by `warning`.
  explicit CaptureIndex(const std::filesystem::path& path);

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  /// Positions count from 0, in the order of the file.
  ByteView frame(std::size_t position) const;
  /// Nothing: the frame has none (as #info), or cannot be read.
  std::optional<std::int64_t> seq(std::size_t position) const { return entries_[position].seq; }

  /// The first position whose seq is greater than `cursor` (with `inclusive`: not less); `size()`
  /// when there is none.
  std::size_t position_after(std::int64_t cursor, bool inclusive) const;
  std::optional<std::int64_t> first_seq() const;
  std::optional<std::int64_t> last_seq() const;

  /// The frame with the byte in the middle of its `blocks` changed, in the middle of the frame
  /// where it has none.
  Bytes corrupted(std::size_t position) const;

  /// What is wrong with the file though it can be served; empty: nothing.
  const std::string& warning() const { return warning_; }

 private:
  struct Entry {
    std::size_t offset = 0;
    std::size_t size = 0;
    std::optional<std::int64_t> seq;
  };

  Bytes bytes_;
  std::vector<Entry> entries_;
  std::string warning_;
};

}  // namespace skua::sim
