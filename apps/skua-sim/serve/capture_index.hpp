#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "world/message_log.hpp"

namespace skua::sim {

/// A capture in memory, each frame with its seq. Positions are those of the file, and the capture
/// never grows. Read-only after construction; any thread.
class CaptureIndex final : public FrameSource {
 public:
  /// Reads the whole file. Throws std::runtime_error if it cannot be read or is not a capture. A
  /// truncated last frame is skipped, and `warning` reports it.
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
  /// Waits for a frame. A position beyond the end of the capture is never reached.
  Token when_past(std::uint64_t position, std::function<void()> wake) override;

  /// Returns a problem of the file that does not prevent serving it; empty if there is none.
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
