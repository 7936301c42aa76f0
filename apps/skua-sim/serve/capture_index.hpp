#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "world/frame_source.hpp"

namespace skua::sim {

/// A capture held in memory, each frame with its seq: positions are those of the file, and nothing
/// is ever added. Read only once made; any thread.
class CaptureIndex final : public FrameSource {
 public:
  /// Reads the whole file. Throws std::runtime_error when it cannot be read or is no capture. A
  /// torn tail is left out and told by `warning`.
  explicit CaptureIndex(const std::filesystem::path& path);

  std::uint64_t begin() const override { return 0; }
  std::uint64_t end() const override { return entries_.size(); }
  bool grows() const override { return false; }
  std::shared_ptr<const Bytes> frame(std::uint64_t position) const override {
    return entries_[position].frame;
  }
  std::optional<std::int64_t> seq(std::uint64_t position) const override {
    return entries_[position].seq;
  }
  std::uint64_t position_after(std::int64_t cursor, bool inclusive) const override;
  std::optional<std::int64_t> first_seq() const override;
  std::optional<std::int64_t> last_seq() const override;
  /// What lies beyond the end never comes.
  Token when_past(std::uint64_t position, std::function<void()> wake) override;

  /// What is wrong with the file though it can be served; empty: nothing.
  const std::string& warning() const { return warning_; }

 private:
  struct Entry {
    std::shared_ptr<const Bytes> frame;
    std::optional<std::int64_t> seq;
  };

  std::vector<Entry> entries_;
  std::string warning_;
};

}  // namespace skua::sim
