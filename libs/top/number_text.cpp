#include "top/number_text.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "base/size_text.hpp"

namespace skua::top {
namespace {

constexpr const char* kUnknown = "-";
/// Above it the digits of a double say nothing.
constexpr double kMost = 1e15;

}  // namespace

std::string number_text(std::optional<double> number, int digits) {
  if (!number || !std::isfinite(*number)) return kUnknown;
  if (std::abs(*number) >= kMost) return fmt::format("{:.3g}", *number);
  const std::string plain = fmt::format("{:.{}f}", std::abs(*number), digits);
  const std::size_t whole = plain.find('.');
  const auto count = static_cast<std::int64_t>(std::strtoll(plain.c_str(), nullptr, 10));
  const std::string text =
      with_commas(count) + (whole == std::string::npos ? "" : plain.substr(whole));
  const bool is_zero = plain.find_first_not_of("0.") == std::string::npos;
  return (*number < 0 && !is_zero ? "-" : "") + text;
}

std::string seconds_text(std::optional<double> seconds) {
  if (!seconds || !std::isfinite(*seconds)) return kUnknown;
  constexpr double kMinute = 60;
  constexpr double kHour = 3'600;
  constexpr double kDay = 86'400;
  const double value = *seconds;
  if (std::abs(value) < 1) return number_text(value * 1'000) + " ms";
  if (value < 2 * kMinute) return number_text(value, 1) + " s";
  if (value < 2 * kHour) return number_text(value / kMinute) + " min";
  if (value < 2 * kDay) return number_text(value / kHour, 1) + " h";
  return number_text(value / kDay, 1) + " d";
}

std::string bytes_text(std::optional<double> bytes) {
  if (!bytes || !std::isfinite(*bytes)) return kUnknown;
  return (*bytes < 0 ? "-" : "") + size_text(std::abs(*bytes));
}

}  // namespace skua::top
