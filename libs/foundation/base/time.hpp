#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua {

/// An instant in microseconds since the Unix epoch, UTC. The network's TIDs and PostgreSQL's
/// timestamptz have the same unit.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

/// A datetime as the lexicons define it (atproto.com/specs/lexicon#datetime, a profile of RFC
/// 3339).
struct Datetime {
  Timestamp instant;
  /// False if the text had digits finer than a microsecond, which `instant` does not contain.
  bool exact = true;
};

/// Parses a lexicon datetime: years 0000 to 9999, as the specification allows. Seconds and zone are
/// required, and `-00:00` is refused. The error describes the problem.
Result<Datetime> parse_datetime(std::string_view text);

/// Writes `2026-07-04T14:38:08.085434Z`, always in UTC and with six digits.
std::string format_datetime(Timestamp instant);

/// Writes `45 s`, `12 min`, `3 h 20 min` or `4 d 2 h`.
std::string duration_text(std::chrono::seconds duration);

/// The source of the current time. Tests inject their own clock; no library reads the system's time
/// in another way.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
};

/// The system's clock, for production.
const Clock& system_clock();

/// Returns the system's time at the first call, advanced by the steady clock, so that the time
/// never jumps. For timeouts, rates and waits inside the process, not for times that are stored or
/// sent.
const Clock& monotonic_clock();

}  // namespace skua
