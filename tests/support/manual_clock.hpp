#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/time.hpp"

namespace skua::test {

/// A clock that stands still until it is moved.
class ManualClock final : public Clock {
 public:
  Timestamp now() const override {
    return Timestamp(std::chrono::microseconds(microseconds_.load()));
  }
  void advance(std::chrono::microseconds by) { microseconds_ += by.count(); }

 private:
  std::atomic<std::int64_t> microseconds_{1'767'312'000'000'000};  // 2026-01-02
};

}  // namespace skua::test
