#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "transport/endpoint.hpp"
#include "transport/frame_sink.hpp"
#include "transport/stream_client.hpp"

namespace skua::sources {

/// Finds the current sequence number of a relay: connects without a cursor and waits for one frame
/// with a number. The constructor starts the probe on a thread of its own. The destructor ends the
/// connection.
class RelayProbe final : private transport::FrameSink {
 public:
  struct Answer {
    /// Nothing means that the relay could not be reached, or sent no frame in time.
    std::optional<std::int64_t> seq;
  };

  RelayProbe(transport::Endpoint relay, const std::string& ca_file,
             std::chrono::milliseconds patience);

  std::chrono::steady_clock::time_point begun_at() const { return begun_at_; }
  /// Returns nothing if the probe has not ended. It does not wait.
  std::optional<Answer> answer() const;

 private:
  bool try_accept(transport::RawFrame& frame) override;
  std::optional<std::string> wants_end() override;
  void when_room(std::function<void()> wake) override { wake(); }
  void on_connected(std::uint64_t /*connection*/) override {}
  void on_disconnected(const transport::Disconnection& end) override;

  const std::chrono::steady_clock::time_point begun_at_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  std::optional<Answer> answer_;
  // The client is the last member, because its thread uses the other members.
  transport::StreamClient client_;
};

/// Decides which of several relays is read: the first one that works. The state of the active relay
/// is the state of its connection. The other relays are probed: a probe connects and waits for one
/// frame. FailOver does no I/O and has no clock. One thread uses it.
///
/// Another relay takes over when the active relay was unreachable or silent for a time, and a probe
/// of the other relay has succeeded since. While no relay can be reached, the machine's own network
/// is the likely cause, and nothing changes. A preferred relay takes over again when its probes
/// have succeeded for a while, so that an unstable relay does not cause a switch each time.
class FailOver {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  struct Options {
    /// The active relay fails when it is not connected for this time.
    Duration gone_after = std::chrono::seconds(30);
    /// The active relay fails when it sends no frame for this time, connected or not.
    Duration silent_after = std::chrono::seconds(60);
    /// A preferred relay takes over when all its probes succeed for this time.
    Duration back_after = std::chrono::minutes(5);
    Duration probe_interval = std::chrono::seconds(60);
    /// The interval of probes while the active relay does not work.
    Duration urgent_interval = std::chrono::seconds(5);
  };

  /// `relays` is the number of relays, in the order of preference. The first relay is active at the
  /// beginning.
  FailOver(const Options& options, std::size_t relays, TimePoint now);

  std::size_t active() const { return active_; }

  // These functions report the state of the active relay at each tick: whether it is connected, and
  // that a frame came or that the pipeline has no room for a frame.
  void connection(bool stands, TimePoint now);
  void heard(TimePoint now) { heard_at_ = now; }

  /// Whether another relay must be probed now.
  bool wants_probe(std::size_t relay, TimePoint now) const;
  void probe_begins(std::size_t relay, TimePoint now);
  void probe_ended(std::size_t relay, bool went_well);

  /// Returns the relay that takes over, or nothing if the active relay stays.
  std::optional<std::size_t> decide(TimePoint now) const;
  void switched(std::size_t relay, TimePoint now);

  /// Returns the time since which the active relay does not work, or nothing if it works.
  std::optional<TimePoint> trouble_since(TimePoint now) const;

 private:
  struct Other {
    std::optional<TimePoint> asked_at;  // the start of the last probe
    /// The start of the earliest probe that has succeeded since the last failure.
    std::optional<TimePoint> well_since;
    /// The starts of the last two successful probes.
    std::optional<TimePoint> well_at;
    std::optional<TimePoint> well_before;
    bool is_asked = false;
  };

  bool is_unreachable(TimePoint now) const;
  bool is_silent(TimePoint now) const;

  const Options options_;
  std::vector<Other> others_;  // the entry of the active relay is not used
  std::size_t active_ = 0;
  bool connected_ = false;
  /// The last time at which the active relay was connected.
  TimePoint reached_at_;
  TimePoint heard_at_;
};

}  // namespace skua::sources
