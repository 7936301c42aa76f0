#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "backfill/host_table.hpp"
#include "base/time.hpp"
#include "store/session.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// What a discovery did since it started; all but the last only grow.
struct DiscoveryFigures {
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
  /// Jobs that came of all that.
  std::uint64_t queued = 0;
  /// Pages that could not be read, and are asked for again.
  std::uint64_t failed = 0;
  std::uint64_t postponed = 0;
  /// Lists that are read at this moment.
  std::size_t under_way = 0;
};

/// Reads the lists of `skua.backfill_hosts`, several at once, each page by page: accounts become
/// jobs, hosts of a relay become lists. A page, what comes of it and where the next begins are one
/// transaction, so that whoever goes on after a kill misses nothing. A list is given up after
/// kMaxAttempts failures in a row, or when it goes beyond `most_entries`; a failure of the database
/// is retried for ever.
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
    /// Jobs were added. Called on any of the threads.
    std::function<void()> on_jobs;
    std::function<void(const std::string& what)> on_defect;
  };

  /// The client and the clock outlive it.
  Discoverer(Options options, transport::HttpClient& http, const Clock& clock);
  ~Discoverer();

  void start();
  /// From now on what comes of requests is nothing that happened.
  void request_stop();
  /// Ends the threads and gives the lists back. Requests under way must have been ended before, by
  /// stopping their client. Again is harmless.
  void stop();

  /// Lists were added.
  void poke();
  /// Every list, other processes' included, was read to its end or given up.
  bool is_idle() const;
  DiscoveryFigures figures() const;

 private:
  struct Counters {
    std::atomic<std::uint64_t> pages{0};
    std::atomic<std::uint64_t> accounts{0};
    std::atomic<std::uint64_t> inactive{0};
    std::atomic<std::uint64_t> hosts{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> surplus{0};
    std::atomic<std::uint64_t> current{0};
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
  /// `left`: how many of its entries are taken. False: the list is another's, or given up.
  template <class Page>
  bool keep(store::Session& session, const ClaimedList& claimed, Page page, std::int64_t left);
  void give_up(store::Session& session, const HostList& list);
  void rest(const std::stop_token& stop, bool first, bool was_down);
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
  std::vector<std::jthread> threads_;
};

}  // namespace skua::backfill
