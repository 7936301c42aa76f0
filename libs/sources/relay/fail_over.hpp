#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace skua::sources {

/// Which of several relays that carry the same network is read: the first of them that can be, as
/// far as that is known. The active one is known by its connection, the others by probes: somebody
/// connects now and then and waits for one frame. No I/O, no clock of its own; one thread.
///
/// The active relay is given up when it was not reached, or said nothing, for so long, and a frame
/// was read from another since: while none can be reached, the machine's own network is the more
/// likely cause, and nothing is won by changing. One that is preferred takes over again when it was
/// well for a while, so that a relay that comes and goes does not make the process come and go.
class FailOver {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  struct Options {
    /// Not connected for so long: it is gone.
    Duration gone_after = std::chrono::seconds(30);
    /// Without a frame for so long, connected or not: it is gone.
    Duration silent_after = std::chrono::seconds(60);
    /// All probes of a preferred one went well for so long: it takes over.
    Duration back_after = std::chrono::minutes(5);
    Duration probe_interval = std::chrono::seconds(60);
    /// The same while the active one is in trouble.
    Duration urgent_interval = std::chrono::seconds(5);
  };

  /// Of `relays`, in the order of preference, the first is active.
  FailOver(const Options& options, std::size_t relays, TimePoint now);

  std::size_t active() const { return active_; }

  // Of the active relay: whether it is connected, told at each turn; and that a frame came, or that
  // there is no room for what it says.
  void connection(bool stands, TimePoint now);
  void heard(TimePoint now) { heard_at_ = now; }

  /// Of another: when it is to be probed next.
  bool wants_probe(std::size_t relay, TimePoint now) const;
  void probe_begins(std::size_t relay, TimePoint now);
  void probe_ended(std::size_t relay, bool went_well);

  /// Who is to take over; nothing: the active one goes on.
  std::optional<std::size_t> decide(TimePoint now) const;
  void switched(std::size_t relay, TimePoint now);

  /// Since when the active one is not as it should be; nothing: it is.
  std::optional<TimePoint> trouble_since(TimePoint now) const;

 private:
  struct Other {
    std::optional<TimePoint> asked_at;  // the last probe's begin
    /// All probes since this one's begin went well.
    std::optional<TimePoint> well_since;
    /// The begins of the last that went well, and of the one before.
    std::optional<TimePoint> well_at;
    std::optional<TimePoint> well_before;
    bool is_asked = false;
  };

  bool is_unreachable(TimePoint now) const;
  bool is_silent(TimePoint now) const;

  const Options options_;
  std::vector<Other> others_;  // the active one's is not used
  std::size_t active_ = 0;
  bool connected_ = false;
  /// When it was seen connected last.
  TimePoint reached_at_;
  TimePoint heard_at_;
};

}  // namespace skua::sources
