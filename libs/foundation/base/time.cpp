#include "base/time.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "base/result.hpp"

namespace skua {
namespace {

/// Reads a datetime's text from front to back. Each step returns whether it succeeded.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool number(std::size_t digits, int& out) {
    if (text_.size() < digits) return false;
    out = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_digit(text_[i])) return false;
      out = out * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(digits);
    return true;
  }

  bool literal(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view digits() {
    std::size_t n = 0;
    while (n < text_.size() && is_digit(text_[n])) ++n;
    const std::string_view run = text_.substr(0, n);
    text_.remove_prefix(n);
    return run;
  }

  bool at_end() const { return text_.empty(); }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  std::string_view text_;
};

/// The reference implementations accept no more digits.
constexpr std::size_t kMaxFractionDigits = 20;
constexpr std::size_t kMicrosecondDigits = 6;

class SystemClock final : public Clock {
 public:
  Timestamp now() const override {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  }
};

class MonotonicClock final : public Clock {
 public:
  Timestamp now() const override {
    return began_ + std::chrono::floor<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                                  began_steady_);
  }

 private:
  const Timestamp began_ = system_clock().now();
  const std::chrono::steady_clock::time_point began_steady_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<Datetime> parse_datetime(std::string_view text) {
  using namespace std::chrono;
  Scanner scan(text);
  int y = 0;
  int mo = 0;
  int d = 0;
  int h = 0;
  int mi = 0;
  int s = 0;
  if (!(scan.number(4, y) && scan.literal('-') && scan.number(2, mo) && scan.literal('-') &&
        scan.number(2, d) && scan.literal('T') && scan.number(2, h) && scan.literal(':') &&
        scan.number(2, mi) && scan.literal(':') && scan.number(2, s))) {
    return errc::datetime_form;
  }

  Datetime result;
  std::int64_t micros = 0;
  if (scan.literal('.')) {
    const std::string_view fraction = scan.digits();
    if (fraction.empty() || fraction.size() > kMaxFractionDigits) return errc::datetime_form;
    for (std::size_t i = 0; i < kMicrosecondDigits; ++i) {
      micros = micros * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
    }
    result.exact = fraction.size() <= kMicrosecondDigits ||
                   fraction.find_first_not_of('0', kMicrosecondDigits) == std::string_view::npos;
  }

  int offset = 0;
  if (!scan.literal('Z')) {
    const bool west = scan.literal('-');
    if (!west && !scan.literal('+')) return errc::datetime_form;
    int zone_h = 0;
    int zone_m = 0;
    if (!(scan.number(2, zone_h) && scan.literal(':') && scan.number(2, zone_m))) {
      return errc::datetime_form;
    }
    if (zone_h > 23 || zone_m > 59) return errc::datetime_zone;
    offset = zone_h * 60 + zone_m;
    if (west && offset == 0) return errc::datetime_zone;
    if (west) offset = -offset;
  }
  if (!scan.at_end()) return errc::datetime_form;

  const year_month_day date{year(y), month(static_cast<unsigned>(mo)),
                            day(static_cast<unsigned>(d))};
  if (!date.ok() || h > 23 || mi > 59 || s > 59) return errc::datetime_out_of_range;

  result.instant = Timestamp(sys_days(date)) + hours(h) + minutes(mi - offset) + seconds(s) +
                   microseconds(micros);
  constexpr Timestamp kFirst = sys_days(year(0) / 1 / 1);
  constexpr Timestamp kEnd = sys_days(year(10000) / 1 / 1);
  if (result.instant < kFirst || result.instant >= kEnd) return errc::datetime_year;
  return result;
}

std::string format_datetime(Timestamp instant) {
  using namespace std::chrono;
  const auto midnight = floor<days>(instant);
  const year_month_day date(midnight);
  const hh_mm_ss time(instant - midnight);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     time.subseconds().count());
}

std::string duration_text(std::chrono::seconds duration) {
  const auto seconds = duration.count();
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7'200) return fmt::format("{} min", seconds / 60);
  if (seconds < 172'800) return fmt::format("{} h {} min", seconds / 3'600, seconds / 60 % 60);
  return fmt::format("{} d {} h", seconds / 86'400, seconds / 3'600 % 24);
}

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

const Clock& monotonic_clock() {
  static const MonotonicClock clock;
  return clock;
}

}  // namespace skua
