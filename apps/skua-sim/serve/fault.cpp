#include "serve/fault.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace skua::sim {

namespace {

/// The form of the argument after the kind's colon. The comment of each value names the field that
/// stores the argument.
enum class Argument : std::uint8_t {
  none,
  optional_seconds,  // delay
  milliseconds,      // delay
  name,              // name
  optional_number,   // number
};

struct KindRow {
  FaultKind kind;
  std::string_view name;
  FaultScope scope;
  Argument argument;
  std::string_view form;
  std::string_view words;
  std::int64_t usual_number = 0;
  std::optional<Hostility> hostility = std::nullopt;
};

constexpr std::array kKinds = {
    KindRow{FaultKind::cut, "cut", FaultScope::connection, Argument::none, "cut",
            "drop the TCP connection before the frame"},
    KindRow{FaultKind::stall, "stall", FaultScope::connection, Argument::optional_seconds,
            "stall[:SECONDS]", "send nothing more, for SECONDS or until the client leaves"},
    KindRow{FaultKind::slow, "slow", FaultScope::connection, Argument::milliseconds, "slow:MS",
            "send each frame of that connection MS milliseconds late from now on"},
    KindRow{FaultKind::corrupt, "corrupt", FaultScope::connection, Argument::none, "corrupt",
            "change the byte in the middle of the frame's blocks"},
    KindRow{FaultKind::error, "error", FaultScope::connection, Argument::name, "error:NAME",
            "send an error frame instead, and close"},
    KindRow{FaultKind::info, "info", FaultScope::connection, Argument::none, "info",
            "send #info OutdatedCursor before the frame"},
    KindRow{FaultKind::truncated_frame, "truncated-frame", FaultScope::stream, Argument::none,
            "truncated-frame", "an additional frame that ends in the middle", 0,
            Hostility::truncated_frame},
    KindRow{FaultKind::bad_hash, "bad-hash", FaultScope::stream, Argument::none, "bad-hash",
            "a commit with a byte of a record changed", 0, Hostility::bad_hash},
    KindRow{FaultKind::bad_signature, "bad-signature", FaultScope::stream, Argument::none,
            "bad-signature", "a commit with a wrong signature", 0, Hostility::bad_signature},
    KindRow{FaultKind::wrong_prev_data, "wrong-prev-data", FaultScope::stream, Argument::none,
            "wrong-prev-data", "a commit whose prevData names another tree", 0,
            Hostility::wrong_prev_data},
    KindRow{FaultKind::replayed_rev, "replayed-rev", FaultScope::stream, Argument::none,
            "replayed-rev", "the same commit again", 0, Hostility::replayed_rev},
    KindRow{FaultKind::future_rev, "future-rev", FaultScope::stream, Argument::none, "future-rev",
            "a commit with a rev one hour ahead", 0, Hostility::future_rev},
    KindRow{FaultKind::silent_account, "silent-account", FaultScope::stream,
            Argument::optional_number, "silent-account[:KB]",
            "a commit of KB kilobytes for an account whose host never answers (default: 900)", 900},
    KindRow{FaultKind::repeated_seq, "repeated-seq", FaultScope::stream, Argument::none,
            "repeated-seq", "the newest message again, with the same seq"},
    KindRow{FaultKind::missing_seq, "missing-seq", FaultScope::stream, Argument::optional_number,
            "missing-seq[:COUNT]", "skip numbers (default: 10)", 10},
    KindRow{FaultKind::seq_restart, "seq-restart", FaultScope::stream, Argument::none,
            "seq-restart", "renumber all frames from 1, and drop all connections"},
    KindRow{FaultKind::tap_restart, "tap-restart", FaultScope::stream, Argument::none,
            "tap-restart", "Tap restarts and drops its connections; unacked events are sent again"},
    KindRow{FaultKind::tap_crash, "tap-crash", FaultScope::stream, Argument::none, "tap-crash",
            "the same, and recently acked events are sent again too"},
    KindRow{FaultKind::tap_renumber, "tap-renumber", FaultScope::stream, Argument::none,
            "tap-renumber", "Tap restarts and renumbers unacked events from 1"},
    KindRow{FaultKind::tap_lose, "tap-lose", FaultScope::stream, Argument::optional_number,
            "tap-lose[:COMMITS]",
            "Tap misses commits of the next account (default: 3), then sends all its existing "
            "records again, but no deletes",
            3},
    KindRow{FaultKind::tap_unknown, "tap-unknown", FaultScope::stream, Argument::none,
            "tap-unknown",
            "Tap sends an event of an unknown type, and a record with unknown fields"},
    KindRow{FaultKind::tap_poison, "tap-poison", FaultScope::stream, Argument::none, "tap-poison",
            "Tap sends a record that cannot be stored"},
    KindRow{FaultKind::tap_no_record, "tap-no-record", FaultScope::stream, Argument::none,
            "tap-no-record", "Tap sends a create without its record"},
    KindRow{FaultKind::tap_repeat, "tap-repeat", FaultScope::stream, Argument::none, "tap-repeat",
            "Tap sends its next message twice"},
    KindRow{FaultKind::label_repeat, "label-repeat", FaultScope::stream, Argument::none,
            "label-repeat", "the labeler's newest frame again, with the same seq"},
    KindRow{FaultKind::rate_limit, "429", FaultScope::request, Argument::optional_number,
            "429[:SECONDS]", "refuse a request, with RateLimit-* and Retry-After (default: 1)", 1},
    KindRow{FaultKind::bare_rate_limit, "429-bare", FaultScope::request, Argument::none, "429-bare",
            "refuse a request without these headers"},
    KindRow{FaultKind::refused_status, "429-status", FaultScope::status, Argument::none,
            "429-status", "refuse a getRepoStatus without these headers"},
    KindRow{FaultKind::cut_download, "cut-download", FaultScope::download, Argument::none,
            "cut-download", "end the body of a getRepo in the middle"},
    KindRow{FaultKind::slow_download, "slow-download", FaultScope::download,
            Argument::optional_number, "slow-download[:BYTES]",
            "send BYTES bytes of a getRepo per second (default: 16384)", 16'384},
    KindRow{FaultKind::missing_block, "missing-block", FaultScope::download, Argument::none,
            "missing-block", "leave one block out of a getRepo"},
    KindRow{FaultKind::bad_block, "bad-block", FaultScope::download, Argument::none, "bad-block",
            "change one byte of one block of a getRepo"},
};

const KindRow& row_of(FaultKind kind) {
  return *std::ranges::find(kKinds, kind, &KindRow::kind);
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> parse_positive(std::string_view text) {
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= 1 ? number : std::nullopt;
}

/// Reads a number of seconds, at most a day.
std::optional<std::chrono::milliseconds> parse_seconds(std::string_view text) {
  constexpr double kLongest = 86400;
  const auto seconds = parse_number<double>(text);
  if (!seconds || !(*seconds >= 0) || *seconds > kLongest) return std::nullopt;
  return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

std::optional<Fault> with_argument(const KindRow& row, std::optional<std::string_view> argument) {
  Fault fault;
  fault.kind = row.kind;
  fault.number = row.usual_number;
  switch (row.argument) {
    case Argument::none:
      if (argument) return std::nullopt;
      break;
    case Argument::optional_seconds:
      if (argument) {
        const auto delay = parse_seconds(*argument);
        if (!delay || delay->count() == 0) return std::nullopt;
        fault.delay = *delay;
      }
      break;
    case Argument::milliseconds: {
      const auto delay = argument ? parse_positive(*argument) : std::nullopt;
      if (!delay) return std::nullopt;
      fault.delay = std::chrono::milliseconds(*delay);
      break;
    }
    case Argument::name:
      if (!argument || argument->empty()) return std::nullopt;
      fault.name = std::string(*argument);
      break;
    case Argument::optional_number:
      if (argument) {
        const auto number = parse_positive(*argument);
        if (!number) return std::nullopt;
        fault.number = *number;
      }
      break;
  }
  return fault;
}

/// Reads a moment: `frame:N`, `seq:N` or `SECONDSs`.
std::optional<FaultMoment> parse_moment(std::string_view text) {
  constexpr std::string_view kFrame = "frame:";
  constexpr std::string_view kSeq = "seq:";
  FaultMoment moment;
  if (text.starts_with(kFrame) || text.starts_with(kSeq)) {
    const bool by_seq = text.starts_with(kSeq);
    const auto at = parse_positive(text.substr(by_seq ? kSeq.size() : kFrame.size()));
    if (!at) return std::nullopt;
    moment.unit = by_seq ? FaultMoment::Unit::seq : FaultMoment::Unit::frame;
    moment.at = *at;
    return moment;
  }
  if (!text.ends_with('s')) return std::nullopt;
  const auto after = parse_seconds(text.substr(0, text.size() - 1));
  if (!after) return std::nullopt;
  moment.after = *after;
  return moment;
}

}  // namespace

std::string_view fault_name(FaultKind kind) {
  return row_of(kind).name;
}

FaultScope fault_scope(FaultKind kind) {
  return row_of(kind).scope;
}

bool strikes_answers(FaultScope scope) {
  return scope == FaultScope::request || scope == FaultScope::status ||
         scope == FaultScope::download;
}

bool is_tap_fault(FaultKind kind) {
  return row_of(kind).name.starts_with("tap-");
}

std::optional<Hostility> fault_hostility(FaultKind kind) {
  return row_of(kind).hostility;
}

std::string describe_faults() {
  std::string text;
  for (const auto& row : kKinds) text += fmt::format("  {:<22} {}\n", row.form, row.words);
  return text;
}

Parsed<Fault> parse_fault(std::string_view text) {
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  const auto* row = std::ranges::find(kKinds, name, &KindRow::name);
  if (row == kKinds.end()) {
    return fmt::format("there is no fault '{}'; there are:\n{}", name, describe_faults());
  }
  std::optional<std::string_view> argument;
  if (colon != std::string_view::npos) argument = text.substr(colon + 1);
  auto fault = with_argument(*row, argument);
  if (!fault) return fmt::format("'{}' is not of the form {}", text, row->form);
  return *std::move(fault);
}

Parsed<PlannedFault> parse_planned_fault(std::string_view text) {
  const auto at_sign = text.rfind('@');
  if (at_sign == std::string_view::npos) {
    return fmt::format(
        "'{}' does not say when: KIND[:ARG]@WHEN, with WHEN frame:N, seq:N or SECONDSs", text);
  }
  auto fault = parse_fault(text.substr(0, at_sign));
  if (!fault) return fault.error();
  const auto words = text.substr(at_sign + 1);
  const auto when = parse_moment(words);
  if (!when) return fmt::format("'{}' is no moment: frame:N, seq:N (from 1) or SECONDSs", words);
  if (when->unit != FaultMoment::Unit::time && strikes_answers(fault_scope(fault->kind))) {
    return fmt::format("'{}' befalls an answer, and there are no frames: say SECONDSs after the @",
                       fault_name(fault->kind));
  }
  return PlannedFault{*std::move(fault), *when};
}

Parsed<FaultRate> parse_fault_rate(std::string_view text) {
  const auto equals = text.rfind('=');
  if (equals == std::string_view::npos) {
    return fmt::format("'{}' is not of the form KIND[:ARG]=RATE", text);
  }
  auto fault = parse_fault(text.substr(0, equals));
  if (!fault) return fault.error();
  const bool share = strikes_answers(fault_scope(fault->kind));
  const auto rate = parse_number<double>(text.substr(equals + 1));
  const double highest = share ? 1 : 1000;
  if (!rate || !(*rate > 0) || *rate > highest) {
    return share ? fmt::format("'{}' wants a share of the requests, above 0 and at most 1", text)
                 : fmt::format("'{}' wants a number a second, above 0 and at most 1000", text);
  }
  return FaultRate{*std::move(fault), *rate};
}

Parsed<PlannedFault> parse_fault_at(FaultKind kind, std::string_view text) {
  constexpr std::string_view kSeq = "seq:";
  const auto& row = row_of(kind);
  FaultMoment when;
  when.unit = text.starts_with(kSeq) ? FaultMoment::Unit::seq : FaultMoment::Unit::frame;
  auto rest = text;
  if (when.unit == FaultMoment::Unit::seq) rest.remove_prefix(kSeq.size());
  const auto colon = rest.find(':');
  const auto at = parse_positive(rest.substr(0, colon));
  std::optional<std::string_view> argument;
  if (colon != std::string_view::npos) argument = rest.substr(colon + 1);
  auto fault = with_argument(row, argument);
  if (!at || !fault) {
    return fmt::format("'{}' is not N or seq:N, from 1, with the argument of {} after a colon",
                       text, row.form);
  }
  when.at = *at;
  return PlannedFault{*std::move(fault), when};
}

FaultPlan::FaultPlan(std::vector<PlannedFault> planned, const std::vector<FaultRate>& rates,
                     std::uint64_t seed, TimePoint start)
    : planned_(std::move(planned)), random_(seed), start_(start) {
  for (const auto& [fault, rate] : rates) {
    const auto next = strikes_answers(fault_scope(fault.kind)) ? start : next_after(start, rate);
    recurring_.push_back({fault, rate, next});
  }
}

void FaultPlan::add(const Fault& fault, std::size_t count) {
  planned_.insert(planned_.end(), count, PlannedFault{fault, FaultMoment{}});
}

std::vector<Fault> FaultPlan::take_for_frame(std::uint64_t number, std::optional<std::int64_t> seq,
                                             TimePoint now) {
  auto taken = take_due(FaultScope::connection, number, seq, now);
  take_by_chance(FaultScope::connection, now, taken);
  count(taken);
  return taken;
}

std::vector<Fault> FaultPlan::take_for_stream(std::uint64_t number, std::optional<std::int64_t> seq,
                                              TimePoint now, bool by_chance) {
  auto taken = take_due(FaultScope::stream, number, seq, now);
  if (by_chance) take_by_chance(FaultScope::stream, now, taken);
  count(taken);
  return taken;
}

std::optional<Fault> FaultPlan::take_for_request(bool asks_status, TimePoint now) {
  if (asks_status) {
    if (auto fault = take_one(FaultScope::status, now)) return fault;
  }
  return take_one(FaultScope::request, now);
}

std::vector<Fault> FaultPlan::take_for_download(TimePoint now) {
  std::vector<Fault> taken;
  const auto is_taken = [&taken](FaultKind kind) {
    return std::ranges::find(taken, kind, &Fault::kind) != taken.end();
  };
  std::erase_if(planned_, [&](PlannedFault& planned) {
    const auto kind = planned.fault.kind;
    if (fault_scope(kind) != FaultScope::download || is_taken(kind)) return false;
    if (!is_due(planned, 0, std::nullopt, now)) return false;
    taken.push_back(std::move(planned.fault));
    return true;
  });
  std::vector<Fault> by_chance;
  take_by_chance(FaultScope::download, now, by_chance);
  for (auto& fault : by_chance) {
    if (!is_taken(fault.kind)) taken.push_back(std::move(fault));
  }
  count(taken);
  return taken;
}

void FaultPlan::postpone(const Fault& fault) {
  --done_[fault.kind];
  add(fault, 1);
}

std::size_t FaultPlan::pick(std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

/// Returns whether a planned fault is due. A connection sees every frame after its start, so its
/// fault needs the exact frame. The stream may skip numbers, so its fault is due at the first
/// number at or after the planned one.
bool FaultPlan::is_due(const PlannedFault& planned, std::uint64_t number,
                       std::optional<std::int64_t> seq, TimePoint now) const {
  const bool exactly = fault_scope(planned.fault.kind) == FaultScope::connection;
  switch (planned.when.unit) {
    case FaultMoment::Unit::frame: {
      const auto at = static_cast<std::uint64_t>(planned.when.at);
      return exactly ? number == at : number >= at;
    }
    case FaultMoment::Unit::seq:
      return seq && (exactly ? *seq == planned.when.at : *seq >= planned.when.at);
    case FaultMoment::Unit::time:
      return now - start_ >= planned.when.after;
  }
  return false;
}

/// Returns the due faults. Of the faults without a specific frame at most one happens per frame,
/// because a connection that is cut must not use up the others.
std::vector<Fault> FaultPlan::take_due(FaultScope scope, std::uint64_t number,
                                       std::optional<std::int64_t> seq, TimePoint now) {
  std::vector<Fault> taken;
  bool has_timed = false;
  std::erase_if(planned_, [&](PlannedFault& planned) {
    if (fault_scope(planned.fault.kind) != scope || !is_due(planned, number, seq, now)) {
      return false;
    }
    const bool timed = planned.when.unit == FaultMoment::Unit::time;
    if (timed && has_timed && scope == FaultScope::connection) return false;
    has_timed = has_timed || timed;
    taken.push_back(std::move(planned.fault));
    return true;
  });
  return taken;
}

/// Returns the first planned fault, or a random one.
std::optional<Fault> FaultPlan::take_one(FaultScope scope, TimePoint now) {
  std::vector<Fault> taken;
  for (auto planned = planned_.begin(); planned != planned_.end(); ++planned) {
    if (fault_scope(planned->fault.kind) != scope) continue;
    if (!is_due(*planned, 0, std::nullopt, now)) continue;
    taken.push_back(std::move(planned->fault));
    planned_.erase(planned);
    break;
  }
  if (taken.empty()) take_by_chance(scope, now, taken);
  if (taken.empty()) return std::nullopt;
  taken.resize(1);
  count(taken);
  return taken.front();
}

/// Adds random faults. If a time-based fault was missed several times, it happens only once.
void FaultPlan::take_by_chance(FaultScope scope, TimePoint now, std::vector<Fault>& taken) {
  for (auto& recurring : recurring_) {
    if (fault_scope(recurring.fault.kind) != scope) continue;
    if (strikes_answers(scope)) {
      if (std::bernoulli_distribution(recurring.rate)(random_)) taken.push_back(recurring.fault);
      continue;
    }
    if (recurring.next > now) continue;
    while (recurring.next <= now) recurring.next = next_after(recurring.next, recurring.rate);
    taken.push_back(recurring.fault);
  }
}

FaultPlan::TimePoint FaultPlan::next_after(TimePoint moment, double rate) {
  const std::chrono::duration<double> wait(std::exponential_distribution<double>(rate)(random_));
  return moment + std::chrono::duration_cast<TimePoint::duration>(wait);
}

void FaultPlan::count(const std::vector<Fault>& taken) {
  for (const auto& fault : taken) ++done_[fault.kind];
}

}  // namespace skua::sim
