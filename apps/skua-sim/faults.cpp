#include "faults.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace skua::sim {
namespace {

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::chrono::milliseconds> parse_seconds(std::string_view text) {
  constexpr double kLongest = 86400;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(seconds > 0) || seconds > kLongest) return std::nullopt;
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

bool matches(const Fault& fault, std::size_t number, std::optional<std::int64_t> seq) {
  return fault.by_seq ? seq == fault.at : static_cast<std::int64_t>(number) == fault.at;
}

}  // namespace

std::string_view kind_name(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::Cut:
      return "cut";
    case Fault::Kind::Stall:
      return "stall";
    case Fault::Kind::Corrupt:
      return "corrupt";
    case Fault::Kind::Slow:
      return "slow";
    case Fault::Kind::Error:
      return "error";
  }
  return "";
}

std::optional<Fault> parse_fault(Fault::Kind kind, std::string_view text) {
  constexpr std::string_view kSeq = "seq:";
  Fault fault;
  fault.kind = kind;
  fault.by_seq = text.starts_with(kSeq);
  if (fault.by_seq) text.remove_prefix(kSeq.size());
  const auto colon = text.find(':');
  const auto at = parse_number(text.substr(0, colon));
  if (!at || *at < 1) return std::nullopt;
  fault.at = *at;
  std::optional<std::string_view> argument;
  if (colon != std::string_view::npos) argument = text.substr(colon + 1);

  switch (kind) {
    case Fault::Kind::Cut:
    case Fault::Kind::Corrupt:
      if (argument) return std::nullopt;
      break;
    case Fault::Kind::Stall:
      if (argument) {
        const auto delay = parse_seconds(*argument);
        if (!delay) return std::nullopt;
        fault.delay = *delay;
      }
      break;
    case Fault::Kind::Slow: {
      const auto delay = argument ? parse_number(*argument) : std::nullopt;
      if (!delay || *delay < 1) return std::nullopt;
      fault.delay = std::chrono::milliseconds(*delay);
      break;
    }
    case Fault::Kind::Error:
      if (!argument || argument->empty()) return std::nullopt;
      fault.name = std::string(*argument);
      break;
  }
  return fault;
}

std::vector<Fault> FaultPlan::take(std::size_t number, std::optional<std::int64_t> seq) {
  std::vector<Fault> now;
  std::erase_if(faults_, [&](Fault& fault) {
    if (!matches(fault, number, seq)) return false;
    now.push_back(std::move(fault));
    return true;
  });
  return now;
}

}  // namespace skua::sim
