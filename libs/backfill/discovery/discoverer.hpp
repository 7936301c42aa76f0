#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "backfill/discovery/audit.hpp"
#include "backfill/discovery/discovery.hpp"
#include "backfill/discovery/host_table.hpp"
#include "backfill/repository/repo_answer.hpp"
#include "base/time.hpp"
#include "store/session.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// What a discovery did since it started; all but the last only grow.
struct DiscoveryMetrics {
  std::uint64_t pages = 0;
  /// Active accounts that lists named; an account may be in several.
  std::uint64_t accounts = 0;
  std::uint64_t inactive = 0;
  /// Hosts that relays named, without those that they say are gone or banned.
  std::uint64_t hosts = 0;
  /// Entries that cannot be used.
  std::uint64_t refused = 0;
  /// Entries that were left out, of pages that were read, because their list has far more than its
  /// host announced (most_entries).
  std::uint64_t surplus = 0;
  /// Accounts whose repositories are stored whole as of the listed revision: they get no job.
  std::uint64_t current = 0;
  /// Repositories that an audit found behind what their hosts list.
  std::uint64_t behind = 0;
  /// Jobs that came of all that.
  std::uint64_t queued = 0;
  /// Pages that could not be read, and are asked for again.
  std::uint64_t failed = 0;
  std::uint64_t postponed = 0;
  /// Lists that are read at this moment.
  std::size_t under_way = 0;
};

/// Reads the lists of `skua.backfill_hosts`, several at once, each page by page: hosts of a relay
/// become lists; accounts become jobs, or in an audit are compared with what is stored (audit.hpp).
/// A page, what comes of it and where the next begins are one transaction, so that whoever goes on
/// after a kill misses nothing. A list is given up after some failures in a row, or when it goes
/// beyond `most_entries`; a failure of the database is retried for ever.
///
/// Threads of its own, each with a database session of its own while there is something to read.
/// Owned by Backfiller.
class Discoverer {
 public:
  struct Options {
    std::string database_url;
    /// Who reads the lists, as in jobs (JobTable).
    std::string holder;
    /// Whether hosts that a relay names may be loopback addresses.
    bool allow_private_hosts = false;
    /// Lists that are read at once.
    std::size_t threads = 4;
    /// Reads the lists of audits, and begins these; nothing: reads those of backfills.
    std::optional<AuditOptions> audit = std::nullopt;
    /// Jobs were added. Called on any of the threads.
    std::function<void()> on_jobs = [] {};
    std::function<void(const std::string& what)> on_defect;
  };

  /// The client and the clock outlive it.
  Discoverer(Options options, transport::HttpClient& http, const Clock& clock);
  ~Discoverer();

  void start();
  /// From now on what comes of requests is nothing that happened.
  void request_stop();
  /// Ends the threads and gives the lists back. Requests under way must have been ended before, by
  /// stopping their client. Idempotent.
  void stop();

  /// Lists were added.
  void notify();
  /// Every list, other processes' included, was read to its end or given up.
  bool is_idle() const;
  DiscoveryMetrics metrics() const;

 private:
  struct Counters {
    std::atomic<std::uint64_t> pages{0};
    std::atomic<std::uint64_t> accounts{0};
    std::atomic<std::uint64_t> inactive{0};
    std::atomic<std::uint64_t> hosts{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> surplus{0};
    std::atomic<std::uint64_t> current{0};
    std::atomic<std::uint64_t> behind{0};
    std::atomic<std::uint64_t> queued{0};
    std::atomic<std::uint64_t> failed{0};
    std::atomic<std::uint64_t> postponed{0};
  };

  /// `first`: it looks for lists for all, the others rest while there are none.
  void run(const std::stop_token& stop, bool first);
  /// False: no list is due.
  bool read_one(store::Session& session, const std::stop_token& stop);
  /// False: it was broken off, and the list is still ours.
  template <class Page>
  bool read(store::Session& session, const ClaimedList& claimed, const std::stop_token& stop);
  /// Waits until a page may be asked for. False: stop was asked for.
  bool wait_for_turn(const std::stop_token& stop);
  void failed(store::Session& session, const HostList& list, const RequestFailed& failure);
  /// `left`: how many of its entries are taken. False: the list is another's, or given up.
  template <class Page>
  bool keep(store::Session& session, const ClaimedList& claimed, Page page, std::int64_t left);
  /// What became of the accounts of a page.
  struct KeptRepos {
    std::size_t current = 0;
    std::size_t queued = 0;
    std::size_t behind = 0;
  };
  KeptRepos keep_repos(store::Session& session, const HostList& list,
                       const std::vector<ListedRepo>& repos);
  void give_up(store::Session& session, const HostList& list);
  void rest(const std::stop_token& stop, bool first, bool was_down);
  ListPurpose purpose() const {
    return options_.audit ? ListPurpose::Audit : ListPurpose::Backfill;
  }
  Claim claim() const { return {options_.holder, clock_.now()}; }

  const Options options_;
  transport::HttpClient& http_;
  const Clock& clock_;
  Counters counters_;
  std::atomic<bool> idle_{false};
  /// Threads that may have something to read, or to say of what they read.
  std::atomic<std::size_t> busy_{0};
  /// Lists that are ours.
  std::atomic<std::size_t> held_{0};
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  /// How often there was something new to look at.
  std::uint64_t news_ = 0;
  /// When the next page may be asked for.
  std::chrono::steady_clock::time_point next_turn_{};
  std::vector<std::jthread> threads_;
};

}  // namespace skua::backfill
