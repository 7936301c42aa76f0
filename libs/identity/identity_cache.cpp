#include "identity/identity_cache.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "atproto/syntax.hpp"
#include "base/generational_map.hpp"
#include "base/seeded_hash.hpp"
#include "identity/errc.hpp"
#include "identity/request_budget.hpp"
#include "identity/site_queue.hpp"
#include "identity/stored_identities.hpp"
#include "transport/errc.hpp"

namespace skua::identity {
namespace {

using Known = std::shared_ptr<const Identity>;

/// How soon to look again when requests wait for a rate or a wait to be over.
constexpr auto kHeldBack = std::chrono::milliseconds(20);
constexpr int kMaxAttempts = 5;
/// By default no more than this can fail in the time for which failures are remembered.
constexpr std::size_t kMaxFailures = 30'000;

struct Ask {
  std::string did;
  bool refresh = false;
  std::chrono::seconds max_age;
  IdentityCache::Callback done;
};

struct Fetched {
  std::string did;
  DidAnswer answer;
  Timestamp started_at;
  std::chrono::microseconds duration;
};

/// What other threads hand over. Shared with requests under way, which may outlive the cache.
struct Inbox {
  std::mutex mutex;
  std::condition_variable filled;
  std::vector<Ask> asks;
  std::vector<Fetched> fetched;
  bool stopped = false;
};

/// How an answer of the directory concerns its load.
RequestOutcome outcome_of(const Fetched& fetched) {
  RequestOutcome outcome;
  outcome.started_at = fetched.started_at;
  outcome.duration = fetched.duration;
  outcome.asked_wait = fetched.answer.wait;
  outcome.rate_limit = fetched.answer.rate_limit;
  const auto& document = fetched.answer.document;
  if (document || !identity::is_server_failure(document.error())) return outcome;
  const auto error = document.error();
  if (error == errc::rate_limited) {
    outcome.end = RequestOutcome::End::Limited;
  } else if (error == transport::errc::http_busy || error == transport::errc::http_stopped ||
             error == transport::errc::spool_failed) {
    outcome.end = RequestOutcome::End::Ours;
  } else {
    outcome.end = RequestOutcome::End::Failed;
  }
  return outcome;
}

}  // namespace

class IdentityCache::Impl {
 public:
  Impl(const DidResolver& resolver, IdentityCacheOptions options, const Clock& clock)
      : resolver_(resolver),
        options_(std::move(options)),
        clock_(clock),
        pace_(options_.pace != nullptr ? *options_.pace : clock),
        table_(options_.database_url, options_.application_name),
        known_(options_.max_cached),
        failures_(std::min(options_.max_cached, kMaxFailures)),
        directory_(options_.directory),
        web_(options_.web_at_once, options_.web_at_once_of_one_site),
        web_budget_(options_.web_per_second),
        thread_([this] { run_guarded(); }) {}

  ~Impl() { stop(); }

  void ask(Ask ask) {
    errc refusal{};
    {
      const std::scoped_lock lock(inbox_->mutex);
      if (inbox_->stopped) {
        refusal = errc::stopped;
      } else if (unanswered_ >= options_.max_waiting) {
        refusal = errc::busy;
      } else {
        ++unanswered_;
        inbox_->asks.push_back(std::move(ask));
        inbox_->filled.notify_one();
        return;
      }
    }
    ask.done(refusal);
  }

  void stop() {
    {
      const std::scoped_lock lock(inbox_->mutex);
      inbox_->stopped = true;
      inbox_->filled.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

  const IdentityStatistics& statistics() const { return statistics_; }
  const IdentityCacheOptions& options() const { return options_; }

 private:
  struct Asker {
    bool refresh = false;
    Callback done;
  };
  /// A DID whose document is waited for.
  struct Pending {
    std::vector<Asker> askers;
    /// What to do with when the server fails.
    Known stale;
    int attempts = 0;
  };
  struct Failure {
    ErrorCode error;
    Timestamp until;
  };

  /// Whether time alone lets more requests be made.
  bool held_back() const {
    const bool plc = !plc_queue_.empty() && directory_.under_way() < directory_.at_once();
    return plc || web_.has_next();
  }

  void give(const Callback& done, const Answer& answer) {
    --unanswered_;
    done(answer);
  }

  void run_guarded() {
    try {
      run();
    } catch (const std::exception& error) {
      if (!options_.on_defect) throw;
      {
        const std::scoped_lock lock(inbox_->mutex);
        inbox_->stopped = true;
      }
      options_.on_defect(std::string("identities cannot be looked up: ") + error.what());
    }
  }

  void run() {
    std::vector<Ask> asks;
    std::vector<Fetched> fetched;
    while (true) {
      {
        std::unique_lock lock(inbox_->mutex);
        const auto filled = [this] {
          return inbox_->stopped || !inbox_->asks.empty() || !inbox_->fetched.empty();
        };
        if (held_back()) {
          inbox_->filled.wait_for(lock, kHeldBack, filled);
        } else {
          inbox_->filled.wait(lock, filled);
        }
        asks = std::exchange(inbox_->asks, {});
        fetched = std::exchange(inbox_->fetched, {});
        if (inbox_->stopped) break;
      }
      std::vector<IdentityRow> news;
      for (auto& one : fetched) take(std::move(one), news);
      take(std::move(asks));
      ask_directory();
      ask_hosts();
      statistics_.waiting = pending_.size();
      table_.save(std::move(news));
    }
    for (const auto& one : asks) give(one.done, errc::stopped);
    for (const auto& [did, pending] : pending_) {
      for (const auto& asker : pending.askers) give(asker.done, errc::stopped);
    }
    pending_.clear();
  }

  void take(std::vector<Ask> asks) {
    std::vector<std::string> to_load;
    for (auto& one : asks) {
      ++statistics_.asked;
      if (answered_from_memory(one)) continue;
      if (const auto place = pending_.find(one.did); place != pending_.end()) {
        place->second.askers.push_back({one.refresh, std::move(one.done)});
        continue;
      }
      // Such a one is not remembered, either: it may be as long as somebody likes.
      if (const auto possible = resolver_.can_resolve(one.did); !possible) {
        ++statistics_.data_failures;
        give(one.done, possible.error());
        continue;
      }
      Pending pending;
      if (const auto* known = known_.find(one.did)) pending.stale = *known;
      const bool load = !one.refresh && pending.stale == nullptr;
      pending.askers.push_back({one.refresh, std::move(one.done)});
      pending_.emplace(one.did, std::move(pending));
      if (load) {
        to_load.push_back(std::move(one.did));
      } else {
        enqueue(std::move(one.did));
      }
    }
    if (!to_load.empty()) load(to_load);
  }

  /// What was fetched in the future was so by a clock that was wrong: nobody knows how old it is.
  bool is_younger(const Identity& identity, std::chrono::seconds age) const {
    const auto now = clock_.now();
    return identity.fetched_at <= now && now - identity.fetched_at < age;
  }

  bool answered_from_memory(const Ask& ask) {
    const auto* known = known_.find(ask.did);
    const auto* failure = failures_.find(ask.did);
    if (failure != nullptr && pace_.now() < failure->until) {
      // A server's failure does not make what we know wrong.
      const bool stale_serves = known && !ask.refresh && is_server_failure(failure->error);
      give(ask.done, stale_serves ? Answer(*known) : Answer(failure->error));
      return true;
    }
    if (!known) return false;
    if (!is_younger(**known, ask.max_age)) return false;
    ++statistics_.from_memory;
    give(ask.done, *known);
    return true;
  }

  /// Looks DIDs up in the table; those that are not there, or stale, will be asked for.
  void load(const std::vector<std::string>& dids) {
    for (const auto& row : table_.load(dids)) {
      auto identity = identity_of(row);
      if (!identity) continue;
      known_.insert(row.did, identity);
      auto& pending = pending_.at(row.did);
      if (is_younger(*identity, options_.fresh_for) && !wants_refresh(pending)) {
        ++statistics_.from_table;
        finish(row.did, identity);
      } else {
        pending.stale = std::move(identity);
      }
    }
    for (const auto& did : dids) {
      if (pending_.contains(did)) enqueue(did);
    }
  }

  static bool wants_refresh(const Pending& pending) {
    return std::any_of(pending.askers.begin(), pending.askers.end(),
                       [](const Asker& asker) { return asker.refresh; });
  }

  void enqueue(std::string did) {
    if (atproto::is_plc_did(did)) {
      plc_queue_.push_back(std::move(did));
    } else {
      web_.push(std::move(did));
    }
  }

  void ask_directory() {
    while (!plc_queue_.empty() && directory_.start(pace_.now())) {
      auto did = std::move(plc_queue_.front());
      plc_queue_.pop_front();
      request(did);
    }
  }

  /// Anybody can have any number of slow hosts asked for: they stand neither before the directory,
  /// nor before each other.
  void ask_hosts() {
    while (web_.has_next() && web_budget_.take(pace_.now())) request(web_.take());
  }

  void request(const std::string& did) {
    ++pending_.at(did).attempts;
    resolver_.resolve(
        did, [inbox = inbox_, did, &clock = pace_, started_at = pace_.now()](DidAnswer answer) {
          const auto duration = clock.now() - started_at;
          const std::scoped_lock lock(inbox->mutex);
          inbox->fetched.push_back({did, std::move(answer), started_at, duration});
          inbox->filled.notify_one();
        });
  }

  void take(Fetched fetched, std::vector<IdentityRow>& news) {
    const bool plc = atproto::is_plc_did(fetched.did);
    if (plc) {
      directory_.finished(outcome_of(fetched), pace_.now());
    } else {
      web_.finished(fetched.did);
    }
    const auto now = clock_.now();
    auto& document = fetched.answer.document;
    if (document) {
      ++statistics_.fetched;
      const auto identity = std::make_shared<const Identity>(Identity{
          fetched.did, document->key, document->pds, document->handle, now, document->label_key});
      failures_.erase(fetched.did);
      known_.insert(fetched.did, identity);
      news.push_back(row_of(*identity));
      finish(fetched.did, identity);
      return;
    }
    const auto error = document.error();
    // One directory serves all of did:plc: what it says to one holds for the others. Hosts of
    // did:web speak for themselves.
    if (error == errc::rate_limited && plc) {
      ++statistics_.waits;
      if (pending_.at(fetched.did).attempts < kMaxAttempts) {
        plc_queue_.push_front(std::move(fetched.did));
        return;
      }
    }
    const bool servers = is_server_failure(error);
    ++(servers ? statistics_.server_failures : statistics_.data_failures);
    if (!servers && known_.find(fetched.did) != nullptr) {
      // What is known no longer holds; nor does the table's copy, which would come back.
      known_.erase(fetched.did);
      news.push_back({fetched.did, {}, {}, {}, now, std::nullopt});
    }
    failures_.insert(fetched.did,
                     {error, pace_.now() + (servers ? options_.remember_server_failure
                                                    : options_.remember_data_failure)});
    fail(fetched.did, error, servers);
  }

  void finish(const std::string& did, const Known& identity) {
    auto pending = pending_.extract(did);
    for (const auto& asker : pending.mapped().askers) give(asker.done, identity);
  }

  void fail(const std::string& did, ErrorCode error, bool servers) {
    auto pending = pending_.extract(did);
    const auto& stale = pending.mapped().stale;
    for (const auto& asker : pending.mapped().askers) {
      const bool stale_serves = servers && stale && !asker.refresh;
      give(asker.done, stale_serves ? Answer(stale) : Answer(error));
    }
  }

  const DidResolver& resolver_;
  const IdentityCacheOptions options_;
  const Clock& clock_;
  const Clock& pace_;
  IdentityStatistics statistics_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  /// Asks, in the inbox and among the pending.
  std::atomic<std::size_t> unanswered_{0};

  // On the cache's thread.
  StoredIdentities table_;
  GenerationalMap<std::string, Known, SeededHash> known_;
  GenerationalMap<std::string, Failure, SeededHash> failures_;
  std::unordered_map<std::string, Pending, SeededHash> pending_;
  std::deque<std::string> plc_queue_;
  AdaptiveRate directory_;
  SiteQueue web_;
  RequestBudget web_budget_;

  std::thread thread_;
};

IdentityCache::IdentityCache(const DidResolver& resolver, IdentityCacheOptions options,
                             const Clock& clock)
    : impl_(std::make_unique<Impl>(resolver, std::move(options), clock)) {}

IdentityCache::~IdentityCache() = default;

void IdentityCache::resolve(std::string did, Callback done) {
  impl_->ask({std::move(did), false, impl_->options().fresh_for, std::move(done)});
}

void IdentityCache::refresh(std::string did, Callback done,
                            std::optional<std::chrono::seconds> max_age) {
  impl_->ask(
      {std::move(did), true, max_age.value_or(impl_->options().refresh_pause), std::move(done)});
}

void IdentityCache::stop() {
  impl_->stop();
}

const IdentityStatistics& IdentityCache::statistics() const {
  return impl_->statistics();
}

}  // namespace skua::identity
