#include "backfill/hosts/host_limits.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "backfill/repository/download.hpp"
#include "documents/host_status.hpp"
#include "transport/errc.hpp"

namespace skua::backfill {

namespace {

using End = HostOutcome::End;

End end_of_status(unsigned status) {
  // Firewalls send this status to clients with too many requests.
  constexpr unsigned kForbidden = 403;
  constexpr unsigned kTimeout = 408;
  constexpr unsigned kTooMany = 429;
  if (status == kTooMany) return End::Limited;
  if (status == kForbidden || status == kTimeout || status >= 500) return End::Failed;
  return End::Answered;
}

End end_of_error(const ErrorCode& error) {
  if (error.category() != make_error_code(transport::errc::http_busy).category()) return End::Ours;
  switch (static_cast<transport::errc>(error.value())) {
    case transport::errc::http_busy:
    case transport::errc::http_stopped:
    case transport::errc::http_too_large:
    case transport::errc::http_no_room:
    case transport::errc::spool_failed:
      return End::Ours;
    case transport::errc::http_timed_out:
    case transport::errc::http_too_slow:
    case transport::errc::http_dropped:
    case transport::errc::http_malformed:
    case transport::errc::http_inflated:
    case transport::errc::http_too_many_redirects:
    case transport::errc::http_bad_redirect:
    case transport::errc::http_downgrade:
      return End::Failed;
    default:
      return End::Unreachable;
  }
}

constexpr auto kForgetEvery = std::chrono::minutes(1);

/// A host, or a site, that waits for a free place.
struct Waiting {
  std::size_t under_way = 0;
  /// The position in the rotation.
  std::size_t position = 0;
  std::size_t free = 0;

  /// The order is reversed, because std::priority_queue returns the largest element.
  bool operator<(const Waiting& other) const {
    return std::tie(under_way, position) > std::tie(other.under_way, other.position);
  }
};

/// A site and its waiting hosts.
struct WaitingSite {
  std::size_t under_way = 0;
  std::priority_queue<Waiting> hosts;
};

bool by_name(const std::string* left, const std::string* right) {
  return *left < *right;
}

/// Returns each host once, in the order of the rotation: by name, starting after the last served
/// host.
std::vector<const std::string*> in_rotation(std::span<const std::string> hosts,
                                            const std::string& last) {
  std::vector<const std::string*> sorted;
  sorted.reserve(hosts.size());
  for (const auto& host : hosts) sorted.push_back(&host);
  // The check saves a sort, because there may be thousands of hosts, and most callers pass them
  // sorted.
  if (!std::is_sorted(sorted.begin(), sorted.end(), by_name)) {
    std::sort(sorted.begin(), sorted.end(), by_name);
  }
  sorted.erase(std::unique(sorted.begin(), sorted.end(),
                           [](const auto* left, const auto* right) { return *left == *right; }),
               sorted.end());
  std::rotate(sorted.begin(), std::upper_bound(sorted.begin(), sorted.end(), &last, by_name),
              sorted.end());
  return sorted;
}

}  // namespace

HostOutcome host_outcome(const Result<transport::HttpAnswer>& answer,
                         std::chrono::microseconds duration, Timestamp now) {
  HostOutcome outcome;
  outcome.duration = duration;
  const auto meaning = classify_repo_answer(answer, now);
  outcome.repository = std::holds_alternative<CarAnswer>(meaning);
  if (std::holds_alternative<HostLimited>(meaning) ||
      std::holds_alternative<RequestFailed>(meaning)) {
    outcome.error = failure_message(answer);
  }
  if (!answer) {
    outcome.end = end_of_error(answer.error());
    return outcome;
  }
  outcome.end = end_of_status(answer->status);
  outcome.asked_wait = transport::asked_wait(*answer, now);
  outcome.rate_limit = transport::stated_rate_limit(*answer, now);
  outcome.bytes = transport::body_of(*answer).size();
  return outcome;
}

bool SpoolBudget::take(const std::string& site, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto place = by_site_.find(site);
  const std::uint64_t of_site = place == by_site_.end() ? 0 : place->second;
  if (taken_ + bytes > in_all_ || of_site + bytes > in_all_ / 2) return false;
  taken_ += bytes;
  by_site_[site] = of_site + bytes;
  return true;
}

void SpoolBudget::give_back(const std::string& site, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::scoped_lock lock(mutex_);
  taken_ -= bytes;
  const auto place = by_site_.find(site);
  place->second -= bytes;
  if (place->second == 0) by_site_.erase(place);
}

std::uint64_t SpoolBudget::taken() const {
  const std::scoped_lock lock(mutex_);
  return taken_;
}

HostLimits::HostLimits(const HostLimitsOptions& options) : options_(options) {}

std::vector<HostSlots> HostLimits::free_slots(std::span<const std::string> hosts_with_work,
                                              Timestamp now) const {
  auto left = options_.in_all - std::min(options_.in_all, under_way_);
  if (left == 0) return {};
  const auto hosts = in_rotation(hosts_with_work, last_started_);
  const auto most =
      hosts.size() > 1 ? std::max<std::size_t>(1, options_.in_all / 2) : options_.in_all;

  boost::unordered_flat_map<std::string, WaitingSite, SeededHash> sites;
  for (std::size_t position = 0; position < hosts.size(); ++position) {
    auto& site = sites[documents::site_of_origin(*hosts[position])];
    const auto [under_way, free] = standing_of(*hosts[position], most, now);
    if (free > 0) site.hosts.push({under_way, position, free});
  }
  const auto most_of_site =
      sites.size() > 1 ? std::max<std::size_t>(1, options_.in_all * 3 / 4) : options_.in_all;
  // A site has the position of its next host.
  std::vector<WaitingSite*> sites_by_position(hosts.size());
  std::priority_queue<Waiting> queue;
  const auto put = [&](WaitingSite& site) {
    if (site.hosts.empty() || site.under_way >= most_of_site) return;
    const auto position = site.hosts.top().position;
    sites_by_position[position] = &site;
    queue.push({site.under_way, position, 0});
  };
  for (auto& [name, site] : sites) {
    site.under_way = under_way_of_site(name);
    put(site);
  }
  std::vector<std::size_t> given(hosts.size());
  for (; left > 0 && !queue.empty(); --left) {
    WaitingSite& site = *sites_by_position[queue.top().position];
    queue.pop();
    auto next = site.hosts.top();
    site.hosts.pop();
    ++given[next.position];
    ++next.under_way;
    ++site.under_way;
    if (--next.free > 0) site.hosts.push(next);
    put(site);
  }
  std::vector<HostSlots> slots;
  for (std::size_t position = 0; position < hosts.size(); ++position) {
    if (given[position] > 0) slots.push_back({*hosts[position], given[position]});
  }
  return slots;
}

HostLimits::Standing HostLimits::standing_of(const std::string& host, std::size_t most,
                                             Timestamp now) const {
  const auto place = hosts_.find(host);
  if (place == hosts_.end()) {
    return {0, std::min(most, transport::AdaptiveLimit(options_.host).free(now))};
  }
  const transport::AdaptiveLimit& limit = place->second.limit;
  return {limit.active(), std::min(most - std::min(most, limit.active()), limit.free(now))};
}

std::size_t HostLimits::under_way_of_site(const std::string& site) const {
  const auto place = sites_.find(site);
  return place == sites_.end() ? 0 : place->second;
}

void HostLimits::started(const std::string& host, Timestamp now) {
  if (now >= next_forget_) {
    forget(options_.forget_after, now);
    next_forget_ = now + kForgetEvery;
  }
  if (hosts_.size() >= options_.most_known && !hosts_.contains(host)) {
    forget(std::chrono::seconds(0), now);
  }
  hosts_.try_emplace(host, options_.host).first->second.limit.started(now);
  ++under_way_;
  ++sites_[documents::site_of_origin(host)];
  last_started_ = host;
}

void HostLimits::finished(const std::string& host, const HostOutcome& outcome, Timestamp now) {
  const auto place = hosts_.find(host);
  if (place == hosts_.end()) throw std::logic_error("a download finished that was not started");
  Host& known = place->second;
  known.limit.finished(outcome, now);
  known.bytes += outcome.bytes;
  if (outcome.repository) {
    ++known.repositories;
    known.rate.add(1, now);
  }
  if (!outcome.error.empty()) {
    ++known.failures;
    known.last_error = outcome.error;
  }
  --under_way_;
  const auto site = sites_.find(documents::site_of_origin(host));
  if (--site->second == 0) sites_.erase(site);
}

std::optional<Timestamp> HostLimits::next_change(Timestamp now) const {
  std::optional<Timestamp> first;
  for (const auto& [name, host] : hosts_) {
    const auto next = host.limit.next_start(now);
    if (next && (!first || *next < *first)) first = next;
  }
  return first;
}

std::vector<HostMetrics> HostLimits::metrics(std::size_t count, Timestamp now) const {
  std::vector<std::pair<std::size_t, const std::string*>> order;
  order.reserve(hosts_.size());
  for (const auto& [name, host] : hosts_) order.emplace_back(host.limit.active(), &name);
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [](const auto& left, const auto& right) {
                      if (left.first != right.first) return left.first > right.first;
                      return *left.second < *right.second;
                    });
  std::vector<HostMetrics> metrics;
  for (std::size_t i = 0; i < count; ++i) {
    const Host& host = hosts_.at(*order[i].second);
    metrics.push_back({.host = *order[i].second,
                       .under_way = host.limit.active(),
                       .at_once = host.limit.at_once(),
                       .waits_until = host.limit.next_start(now),
                       .repositories = host.repositories,
                       .bytes = host.bytes,
                       .failures = host.failures,
                       .repositories_per_second = host.rate.per_second(now),
                       .last_error = host.last_error});
  }
  return metrics;
}

void HostLimits::forget(std::chrono::seconds idle_for, Timestamp now) {
  boost::unordered::erase_if(hosts_, [&](const auto& entry) {
    const auto idle_since = entry.second.limit.idle_since();
    return idle_since && now >= *idle_since + idle_for;
  });
}

}  // namespace skua::backfill
