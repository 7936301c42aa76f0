#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "world/network.hpp"

namespace skua::sim {

/// The place where a fault happens.
enum class FaultScope : std::uint8_t {
  connection,  // one subscriber of the relay, before a frame is sent to it
  stream,      // the messages of the relay, for all subscribers; or Tap, or the labeler
  request,     // any HTTP request except those to the control server and health checks
  status,      // a request for the hosting status of an account
  download,    // the body of a getRepo answer
};

enum class FaultKind : std::uint8_t {
  cut,              // the TCP connection is dropped before the frame
  stall,            // nothing more is sent, for `delay`; if that is zero, until the client leaves
  slow,             // from this frame on every frame of the connection is sent `delay` late
  corrupt,          // the frame is sent with one byte changed
  error,            // an error frame with `name` is sent instead, and the websocket is closed
  info,             // `#info OutdatedCursor` is sent before the frame
  truncated_frame,  // the hostile messages of Network::provoke
  bad_hash,
  bad_signature,
  wrong_prev_data,
  replayed_rev,
  future_rev,
  silent_account,  // a commit of `number` KB for an account whose host never answers
  repeated_seq,    // the newest message again, with the same seq
  missing_seq,     // `number` seqs are skipped
  seq_restart,     // the relay renumbers all its messages from 1, and drops its connections
  tap_restart,     // restarts of Tap: see TapOutbox::End
  tap_crash,
  tap_renumber,
  tap_lose,  // see TapTracker
  tap_unknown,
  tap_poison,
  tap_no_record,
  tap_repeat,       // the next message is sent twice
  label_repeat,     // the labeler's newest frame again, with the same seq
  rate_limit,       // 429 with RateLimit-* and Retry-After, `number` seconds
  bare_rate_limit,  // 429 without these headers
  refused_status,   // the same, for a hosting status
  cut_download,     // the body ends in the middle
  slow_download,    // `number` bytes per second
  missing_block,    // one block is left out of the CAR
  bad_block,        // one byte of one block is changed
};

/// One fault.
struct Fault {
  FaultKind kind = FaultKind::cut;
  std::chrono::milliseconds delay{0};
  std::int64_t number = 0;
  std::string name;
};

/// The time at which a planned fault happens: at a frame, counted from 1 since the start of the
/// relay, at a seq, or at a time after the start.
struct FaultMoment {
  enum class Unit : std::uint8_t { frame, seq, time };
  Unit unit = Unit::time;
  std::int64_t at = 0;
  std::chrono::milliseconds after{0};
};

struct PlannedFault {
  Fault fault;
  FaultMoment when;
};

/// A fault that recurs at random. The rate is a number per second or, for requests and downloads, a
/// share of them.
struct FaultRate {
  Fault fault;
  double rate = 0;
};

/// Returns the name of a kind: `cut`, `bad-hash`, `429`, ...
std::string_view fault_name(FaultKind kind);
FaultScope fault_scope(FaultKind kind);
/// Returns true for faults of requests and downloads. Their rates are shares, and they have no
/// frames.
bool strikes_answers(FaultScope scope);
/// Returns true for the faults of Tap.
bool is_tap_fault(FaultKind kind);
/// Returns the message of Network::provoke that this stream fault sends, if there is one.
std::optional<Hostility> fault_hostility(FaultKind kind);

/// Returns the kinds with their arguments and effects as a text for people, one line each.
std::string describe_faults();

/// Either a value, or an error message for people.
template <class T>
using Parsed = boost::system::result<T, std::string>;

/// Parses `KIND[:ARG]`: `cut`, `stall:2.5`, `error:ConsumerTooSlow`.
Parsed<Fault> parse_fault(std::string_view text);
/// Parses `KIND[:ARG]@WHEN` with WHEN `frame:N`, `seq:N` or `SECONDSs`.
Parsed<PlannedFault> parse_planned_fault(std::string_view text);
/// Parses `KIND[:ARG]=RATE`.
Parsed<FaultRate> parse_fault_rate(std::string_view text);
/// Parses the argument of a flag that names the kind: `N[:ARG]` or `seq:N[:ARG]`.
Parsed<PlannedFault> parse_fault_at(FaultKind kind, std::string_view text);

/// The pending faults, planned or random. Each planned fault happens once in the life of the
/// simulator, so that a client that reconnects gets past it. Randomness is seeded: the same calls
/// get the same faults. The caller that takes a fault must carry it out. One thread.
class FaultPlan {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Planned times and rates count from `start`.
  FaultPlan(std::vector<PlannedFault> planned, const std::vector<FaultRate>& rates,
            std::uint64_t seed, TimePoint start);

  /// Adds a fault that happens `count` times from now on.
  void add(const Fault& fault, std::size_t count);

  /// Takes the faults for the frame that is about to be sent to a connection, in the order of their
  /// definition. `number` counts from 1.
  std::vector<Fault> take_for_frame(std::uint64_t number, std::optional<std::int64_t> seq,
                                    TimePoint now);
  /// Takes the faults of the stream, which has `number` messages and this seq now. Without
  /// `by_chance` only planned faults are taken.
  std::vector<Fault> take_for_stream(std::uint64_t number, std::optional<std::int64_t> seq,
                                     TimePoint now, bool by_chance);
  /// Takes the fault for a request; nothing if the request must be served normally. `asks_status`
  /// says that the request is for the status of an account.
  std::optional<Fault> take_for_request(bool asks_status, TimePoint now);
  /// Takes the faults for a download, at most one of each kind.
  std::vector<Fault> take_for_download(TimePoint now);

  /// Counts a fault that happened without having been planned.
  void note_done(FaultKind kind) { ++done_[kind]; }
  /// Returns a fault that cannot be carried out yet.
  void postpone(const Fault& fault);

  /// Returns a random number below `count`, which must be above 0.
  std::size_t pick(std::size_t count);

  /// Returns the number of faults that happened, by kind.
  const std::map<FaultKind, std::size_t>& done() const { return done_; }

 private:
  struct Recurring {
    Fault fault;
    double rate;
    TimePoint next;  // unused for faults of answers
  };

  bool is_due(const PlannedFault& planned, std::uint64_t number, std::optional<std::int64_t> seq,
              TimePoint now) const;
  std::vector<Fault> take_due(FaultScope scope, std::uint64_t number,
                              std::optional<std::int64_t> seq, TimePoint now);
  std::optional<Fault> take_one(FaultScope scope, TimePoint now);
  void take_by_chance(FaultScope scope, TimePoint now, std::vector<Fault>& taken);
  TimePoint next_after(TimePoint moment, double rate);
  void count(const std::vector<Fault>& taken);

  std::vector<PlannedFault> planned_;
  std::vector<Recurring> recurring_;
  std::mt19937_64 random_;
  const TimePoint start_;
  std::map<FaultKind, std::size_t> done_;
};

}  // namespace skua::sim
