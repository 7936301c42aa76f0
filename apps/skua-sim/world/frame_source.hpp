#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/bytes.hpp"

namespace skua::sim {

/// Frames in the order in which a relay or PDS sends them: a capture, or the messages that a
/// simulated host has published so far. Positions count from 0 since the host started and are never
/// reused; frames before `begin()` have been discarded. One thread.
class FrameSource {
 public:
  virtual ~FrameSource() = default;

  virtual std::uint64_t begin() const = 0;
  virtual std::uint64_t end() const = 0;
  /// True: `end()` may still grow.
  virtual bool grows() const = 0;

  /// The frame, its seq included. `position` is in [begin(), end()). The bytes are valid while the
  /// pointer exists.
  virtual std::shared_ptr<const Bytes> frame(std::uint64_t position) const = 0;
  /// Nothing: the frame has none (as #info), or is unreadable.
  virtual std::optional<std::int64_t> seq(std::uint64_t position) const = 0;

  /// The first kept position whose seq is greater than `cursor` (with `inclusive`: not less);
  /// `end()` if there is none.
  virtual std::uint64_t position_after(std::int64_t cursor, bool inclusive) const = 0;
  virtual std::optional<std::int64_t> first_seq() const = 0;
  virtual std::optional<std::int64_t> last_seq() const = 0;

  /// Calls `wake` once when `end()` has grown past `position` (at once if it already has);
  /// destroying the returned token cancels this.
  using Token = std::shared_ptr<void>;
  virtual Token when_past(std::uint64_t position, std::function<void()> wake) = 0;
};

}  // namespace skua::sim
