#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "backfill/hosts/host_outcome.hpp"
#include "backfill/hosts/host_pace.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"

namespace skua::backfill {

struct HostLimitsOptions {
  HostPaceOptions host;
  /// Downloads under way of all hosts together.
  std::size_t in_all = 64;
  /// Hosts of which nothing is under way, and which no wait keeps, are forgotten after this, or as
  /// soon as more than `most_known` are known.
  std::chrono::seconds forget_after = std::chrono::minutes(10);
  std::size_t most_known = 4096;
};

/// So many downloads of a host may start.
struct HostSlots {
  std::string host;
  std::size_t count = 0;
};

/// A host as a display shows it.
struct HostMetrics {
  std::string host;
  std::size_t under_way = 0;
  /// How many may be.
  std::size_t at_once = 0;
  /// Nothing starts before; nothing: no wait.
  std::optional<Timestamp> waits_until;
  std::uint64_t repositories = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failures = 0;
  double repositories_per_second = 0;
  /// Empty: none since the host is known.
  std::string last_error;
};

/// Says which hosts (origins of PDSes) may be asked for how many repositories now: each as its
/// HostPace allows, all together up to a number that is shared out fairly. A free place goes to the
/// site (site_of_origin) that holds the fewest, in turns among equals, and there to the host that
/// holds the fewest: whoever owns a domain can name any number of hosts below it. While several
/// hosts have work none gets more than half of all places, and while several sites have, none gets
/// more than three quarters, so that slow ones cannot take them away from the rest.
///
/// Whoever drives the downloads owns it and calls it on one thread. No clock of its own, no I/O. It
/// remembers about `most_known` hosts besides those that are under way or have to wait.
class HostLimits {
 public:
  explicit HostLimits(const HostLimitsOptions& options);

  /// How many downloads of each of these hosts may start now; hosts of which none may are left out.
  /// Nothing is reserved: call `started` for what is started before asking again. Cheapest when the
  /// hosts come sorted.
  std::vector<HostSlots> free_slots(std::span<const std::string> hosts_with_work,
                                    Timestamp now) const;

  void started(const std::string& host, Timestamp now);
  /// Once for each that was started; throws std::logic_error otherwise.
  void finished(const std::string& host, const HostOutcome& outcome, Timestamp now);

  /// When `free_slots` may give more although nothing finishes; nothing: never.
  std::optional<Timestamp> next_change(Timestamp now) const;

  /// Of all hosts.
  std::size_t under_way() const { return under_way_; }
  /// The hosts that are remembered, those with the most under way first, then by name; at most
  /// `count`.
  std::vector<HostMetrics> metrics(std::size_t count, Timestamp now) const;
  std::size_t known_hosts() const { return hosts_.size(); }

 private:
  struct Standing {
    std::size_t under_way = 0;
    /// How many may start besides, so that no more than `most` are under way.
    std::size_t free = 0;
  };

  Standing standing_of(const std::string& host, std::size_t most, Timestamp now) const;
  std::size_t under_way_of_site(const std::string& site) const;
  void forget(std::chrono::seconds idle_for, Timestamp now);

  const HostLimitsOptions options_;
  boost::unordered_flat_map<std::string, HostPace, SeededHash> hosts_;
  /// Downloads under way by site; those with none are left out.
  boost::unordered_flat_map<std::string, std::size_t, SeededHash> sites_;
  std::size_t under_way_ = 0;
  /// Whose turn was last.
  std::string last_started_;
  Timestamp next_forget_;
};

}  // namespace skua::backfill
