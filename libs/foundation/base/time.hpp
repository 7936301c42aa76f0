#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua {

/// An instant in microseconds since the Unix epoch, UTC. The unit of the network's TIDs and of
/// PostgreSQL's timestamptz.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

/// A datetime as the lexicons define it (atproto.com/specs/lexicon#datetime, a profile of RFC
/// 3339).
struct Datetime {
  Timestamp instant;
  /// False when `instant` lost something of the text: digits finer than a microsecond.
  bool exact = true;
};

/// Parses a lexicon datetime: years 0000 to 9999 as the specification allows, seconds and zone
/// required, `-00:00` refused. The error describes the problem.
Result<Datetime> parse_datetime(std::string_view text);

/// `2026-07-04T14:38:08.085434Z`: always UTC, always six digits.
std::string format_datetime(Timestamp instant);

/// `45 s`, `12 min`, `3 h 20 min`, `4 d 2 h`.
std::string duration_text(std::chrono::seconds duration);

/// Where the time comes from. Tests inject their own; nothing in the libraries asks the system.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
};

/// The system's clock, for production.
const Clock& system_clock();

/// The system's time at the first call, advanced by the steady clock: it never jumps. For timeouts,
/// rates and waits inside the process, not for times that are stored or sent.
const Clock& monotonic_clock();

}  // namespace skua
