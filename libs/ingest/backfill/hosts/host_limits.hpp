#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/result.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "transport/adaptive_limit.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// The outcome of a download for its host. After a redirect the host is the one that answered.
/// `started_at` is the time at which HostLimits::started was called for the download. The look-up
/// of the account's document happens between that time and the request.
struct HostOutcome : transport::RequestOutcome {
  /// Whether a repository was downloaded.
  bool repository = false;
  /// The error for users. It is empty if there was none.
  std::string error = {};
};

/// Returns the outcome of a getRepo for its host, except for `started_at`. The function is pure.
HostOutcome host_outcome(const Result<transport::HttpAnswer>& answer,
                         std::chrono::microseconds duration, Timestamp now);

/// Limits the disk space of downloaded repositories, from their first byte until they have been
/// read. There is a total limit, and half of it is the limit of each site (site_of_origin). Small
/// repositories stay in memory and need no disk space, so they continue when the space is used up.
/// Any thread may use it.
class SpoolBudget {
 public:
  explicit SpoolBudget(std::uint64_t in_all) : in_all_(in_all) {}

  /// Reserves bytes. Returns false and reserves nothing if there is no room.
  bool take(const std::string& site, std::uint64_t bytes);
  /// Returns reserved bytes.
  void give_back(const std::string& site, std::uint64_t bytes);

  std::uint64_t taken() const;

 private:
  const std::uint64_t in_all_;
  mutable std::mutex mutex_;
  std::uint64_t taken_ = 0;
  boost::unordered_flat_map<std::string, std::uint64_t, SeededHash> by_site_;
};

/// A rate per second for displays. An event that happened a minute ago has a third of the weight of
/// a new event. It has no clock. One thread uses it.
class DecayingRate {
 public:
  void add(double count, Timestamp now) {
    rate_ = per_second(now) + count / kMemory.count();
    at_ = std::max(at_, now);
  }

  double per_second(Timestamp now) const {
    // A clock that is set back has no effect.
    const std::chrono::duration<double> passed = std::max(now, at_) - at_;
    return rate_ * std::exp(-passed / kMemory);
  }

 private:
  static constexpr std::chrono::duration<double> kMemory{60};

  double rate_ = 0;
  Timestamp at_;
};

struct HostLimitsOptions {
  transport::AdaptiveLimitOptions host = transport::requests_at_once();
  /// The maximum number of concurrent downloads of all hosts together.
  std::size_t in_all = 64;
  /// The time after which hosts without active downloads and without a wait are forgotten. They are
  /// forgotten earlier if more than `most_known` hosts are known.
  std::chrono::seconds forget_after = std::chrono::minutes(10);
  std::size_t most_known = 4096;
};

/// The number of downloads of a host that may start.
struct HostSlots {
  std::string host;
  std::size_t count = 0;
};

/// The state of a host, for a display.
struct HostMetrics {
  std::string host;
  std::size_t under_way = 0;
  /// The concurrency limit of the host.
  std::size_t at_once = 0;
  /// The time before which no download starts, or nothing if there is no wait.
  std::optional<Timestamp> waits_until;
  std::uint64_t repositories = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failures = 0;
  double repositories_per_second = 0;
  /// The last error, which is empty if there was none.
  std::string last_error;
};

/// Decides how many repositories of each host (the origin of a PDS) may be downloaded now. An
/// AdaptiveLimit limits each host, and all hosts share a total fairly. A free place goes to the
/// site (site_of_origin) with the fewest active downloads, in rotation among equals. Within the
/// site it goes to the host with the fewest active downloads. Sites are considered first because
/// the owner of a domain can create any number of hosts below the domain. While several hosts have
/// work, none gets more than half of all places. While several sites have work, none gets more than
/// three quarters. Slow hosts therefore cannot take all places.
///
/// One thread owns and calls it. It has no clock and does no I/O. It keeps about `most_known` hosts
/// in memory, besides the hosts with active downloads or a wait.
class HostLimits {
 public:
  explicit HostLimits(const HostLimitsOptions& options);

  /// Returns how many downloads of each of these hosts may start now. Hosts with none are left out.
  /// It reserves nothing, so call `started` for each start before the next call. It is fastest if
  /// the hosts are sorted.
  std::vector<HostSlots> free_slots(std::span<const std::string> hosts_with_work,
                                    Timestamp now) const;

  void started(const std::string& host, Timestamp now);
  /// Reports the end of a download, once for each started download. Otherwise it throws
  /// std::logic_error.
  void finished(const std::string& host, const HostOutcome& outcome, Timestamp now);

  /// Returns the time from which `free_slots` may return more although no download finishes, or
  /// nothing if there is no such time.
  std::optional<Timestamp> next_change(Timestamp now) const;

  /// Returns the number of active downloads of all hosts.
  std::size_t under_way() const { return under_way_; }
  /// Returns at most `count` known hosts, sorted by the number of active downloads, largest first,
  /// then by name.
  std::vector<HostMetrics> metrics(std::size_t count, Timestamp now) const;
  std::size_t known_hosts() const { return hosts_.size(); }

 private:
  /// A known host, with the values that HostMetrics shows.
  struct Host {
    explicit Host(const transport::AdaptiveLimitOptions& options) : limit(options) {}

    transport::AdaptiveLimit limit;
    std::uint64_t repositories = 0;
    std::uint64_t bytes = 0;
    std::uint64_t failures = 0;
    DecayingRate rate;
    std::string last_error;
  };
  struct Standing {
    std::size_t under_way = 0;
    /// The number of downloads that may start, so that at most `most` are active.
    std::size_t free = 0;
  };

  Standing standing_of(const std::string& host, std::size_t most, Timestamp now) const;
  std::size_t under_way_of_site(const std::string& site) const;
  void forget(std::chrono::seconds idle_for, Timestamp now);

  const HostLimitsOptions options_;
  boost::unordered_flat_map<std::string, Host, SeededHash> hosts_;
  /// The numbers of active downloads by site. Sites without active downloads are left out.
  boost::unordered_flat_map<std::string, std::size_t, SeededHash> sites_;
  std::size_t under_way_ = 0;
  /// The site of the last started download.
  std::string last_started_;
  Timestamp next_forget_;
};

}  // namespace skua::backfill
