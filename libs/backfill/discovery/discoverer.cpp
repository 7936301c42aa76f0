#include "backfill/discovery/discoverer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "backfill/discovery/listing.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/log.hpp"
#include "store/outage.hpp"

namespace skua::backfill {

namespace {

using transport::HostOrigin;

/// How often to check whether a list is due.
constexpr std::chrono::milliseconds kListQuiet{1'000};
constexpr std::chrono::seconds kAuditQuiet{10};
/// Many hosts of the network no longer exist; the next audit tries all of them again.
constexpr int kAuditAttempts = 3;
/// The wait after a 429 without a stated time.
constexpr std::chrono::seconds kListUnsaidWait{30};
const std::string kCollectionPrefix = list_of_collection("");

HostOrigin origin_of(const HostList& list) {
  return list.is_operator_specified ? HostOrigin::configured : HostOrigin::network;
}

template <class Page>
typename Listing<Page>::Source source_of(const HostList& list, bool allow_private_hosts) {
  if constexpr (std::is_same_v<Page, HostPage>) {
    return hosts_of(list.host, origin_of(list), allow_private_hosts);
  } else if (list.what == kListOfRepos || list.what == kAuditOfRepos) {
    return repos_of(list.host, origin_of(list));
  } else {
    return repos_with_collection(list.host, list.what.substr(kCollectionPrefix.size()),
                                 origin_of(list));
  }
}

}  // namespace

Discoverer::Discoverer(store::Runtime& runtime, Options options, transport::HttpClient& http)
    : runtime_(runtime), options_(std::move(options)), http_(http), clock_(runtime.clocks.server) {}

Discoverer::~Discoverer() {
  stop();
}

void Discoverer::start() {
  for (std::size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this, i](const std::stop_token& stop) { run(stop, i == 0); });
  }
}

void Discoverer::request_stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Discoverer::stop() {
  if (threads_.empty()) return;
  request_stop();
  threads_.clear();
  if (held_ == 0) return;
  try {
    store::Session session(runtime_.database_url, options_.lease_owner);
    release_lists(session, options_.lease_owner, clock_.now());
  } catch (const store::SqlError& error) {
    logger("backfill")
        ->warn("lists were not released; the next process takes them: {}", error.what());
  }
}

void Discoverer::notify() {
  const std::scoped_lock lock(mutex_);
  ++notifications_;
  idle_ = false;
  wake_.notify_all();
}

bool Discoverer::is_idle() const {
  return idle_ && busy_ == 0;
}

DiscoveryMetrics Discoverer::metrics() const {
  DiscoveryMetrics metrics = counters_;
  metrics.under_way = held_;
  return metrics;
}

void Discoverer::run(const std::stop_token& stop, bool first) {
  std::unique_ptr<store::Session> session;
  bool took_orphans = !first;
  bool was_down = false;
  while (!stop.stop_requested()) {
    try {
      if (!session || !session->connected()) {
        session = std::make_unique<store::Session>(runtime_.database_url, options_.lease_owner);
      }
      if (!took_orphans) reclaim_orphan_lists(*session, clock_.now());
      took_orphans = true;
      was_down = false;
      if (first && options_.audit) begin_audit(*session, *options_.audit, clock_.now());
      if (read_one(*session, stop)) continue;
      if (!first && busy_ == 0) session.reset();
    } catch (const store::ServerError& error) {
      was_down = true;
      store::log_retry("backfill", "lists cannot be read", error);
      session.reset();
    } catch (const std::exception& error) {
      return runtime_.fatal(std::string("reading lists: ") + error.what());
    }
    rest(stop, first, was_down);
  }
}

void Discoverer::rest(const std::stop_token& stop, bool first, bool was_down) {
  std::unique_lock lock(mutex_);
  const auto seen = notifications_;
  const auto is_notified = [&] { return !was_down && notifications_ != seen; };
  if (first || was_down || busy_ > 0) {
    wake_.wait_for(lock, stop, options_.audit ? kAuditQuiet : kListQuiet, is_notified);
  } else {
    wake_.wait(lock, stop, is_notified);
  }
}

bool Discoverer::read_one(store::Session& session, const std::stop_token& stop) {
  struct Busy {
    std::atomic<std::size_t>& count;
    explicit Busy(std::atomic<std::size_t>& counted) : count(counted) { ++count; }
    ~Busy() { --count; }
  };
  std::uint64_t seen = 0;
  {
    const std::scoped_lock lock(mutex_);
    seen = notifications_;
  }
  // From before the lease until everything is reported: at every moment either the table or this
  // counter shows the activity.
  const Busy busy(busy_);
  const auto leased = lease_lists(session, 1, lease_request(), purpose());
  if (leased.empty()) {
    const bool none = !next_page_due(session, purpose());
    const std::scoped_lock lock(mutex_);
    idle_ = none && notifications_ == seen;
    return false;
  }
  // If one list is due, there may be more.
  notify();
  ++held_;
  const std::string& what = leased.front().list.what;
  const bool is_of_hosts = what == kListOfHosts || what == kAuditOfHosts;
  const bool ended = is_of_hosts ? read<HostPage>(session, leased.front(), stop)
                                 : read<RepoPage>(session, leased.front(), stop);
  if (ended) --held_;
  return true;
}

template <class Page>
bool Discoverer::read(store::Session& session, const LeasedList& leased,
                      const std::stop_token& stop) {
  const HostList& list = leased.list;
  Listing<Page> listing(http_, clock_, source_of<Page>(list, options_.allow_private_hosts),
                        leased.cursor.value_or(""));
  std::int64_t left = most_entries(list) - leased.listed;
  for (;;) {
    if (!wait_for_page_interval(stop)) return false;
    auto answer = listing.next();
    if (stop.stop_requested()) return false;
    if (const auto* limited = std::get_if<HostLimited>(&answer)) {
      list_postponed(session, list, list.host + ": " + kLimitedText,
                     limited->wait.value_or(kListUnsaidWait), options_.lease_owner, clock_.now());
      counters_.postponed += 1;
      return true;
    }
    if (const auto* failure = std::get_if<RequestFailed>(&answer)) {
      failed(session, list, *failure);
      return true;
    }
    Page& page = std::get<Page>(answer);
    const bool is_last = page.cursor.empty();
    const auto entries = static_cast<std::int64_t>(page.entries());
    if (!store_page(session, leased, page, left) || is_last) return true;
    left -= entries;
  }
}

bool Discoverer::wait_for_page_interval(const std::stop_token& stop) {
  if (!options_.audit) return true;
  std::unique_lock lock(mutex_);
  const auto page_at = std::max(next_page_at_, std::chrono::steady_clock::now());
  next_page_at_ = page_at + options_.audit->page_interval;
  wake_.wait_until(lock, stop, page_at, [] { return false; });
  return !stop.stop_requested();
}

void Discoverer::failed(store::Session& session, const HostList& list,
                        const RequestFailed& failure) {
  const bool is_audited_host = list.what == kAuditOfRepos;
  const bool again =
      list_failed(session, list, list.host + ": " + failure.message,
                  failure.wait.value_or(std::chrono::seconds(0)), options_.lease_owner,
                  clock_.now(), is_audited_host ? kAuditAttempts : kMaxAttempts);
  counters_.failed += 1;
  logger("backfill")
      ->log(is_audited_host ? spdlog::level::debug : spdlog::level::warn,
            "the list {} of {} {}: {}", list.what, list.host,
            again ? "failed, retrying later" : "is abandoned", failure.message);
}

}  // namespace skua::backfill
