#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// PostgreSQL's time at this moment (`clock_timestamp()`). Throws SqlError.
Timestamp server_time(Session& session);

/// PostgreSQL's clock, which all processes of a database share. It is read regularly and advanced
/// by the steady clock, so that a jump of the local clock does not move it. For times that several
/// processes store and compare, such as leases. Any thread.
class ServerClock final : public Clock {
 public:
  /// Starts at the current time of `ours` until the first comparison. `ours` must outlive it.
  explicit ServerClock(const Clock& ours);

  /// Reads the server's clock. A reading that took longer than two seconds is ignored, unless it is
  /// the first. Throws SqlError.
  void compare(Session& session);

  Timestamp now() const override;

  /// How far it is ahead of our clock now; negative: behind; nothing: it was never compared.
  std::optional<std::chrono::microseconds> ahead() const;

 private:
  void set(Timestamp now, std::chrono::microseconds steady);

  const Clock& ours_;
  /// The offset to the steady clock, in microseconds.
  std::atomic<std::int64_t> offset_{0};
  std::atomic<bool> compared_{false};
};

/// The later of two clocks, so that a slow clock has no effect while the other one is right. Both
/// must outlive it.
class LaterClock final : public Clock {
 public:
  LaterClock(const Clock& one, const Clock& other) : one_(one), other_(other) {}
  Timestamp now() const override { return std::max(one_.now(), other_.now()); }

 private:
  const Clock& one_;
  const Clock& other_;
};

}  // namespace skua::store
