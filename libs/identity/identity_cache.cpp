#include "identity/identity_cache.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "atproto/syntax.hpp"
#include "base/seeded_hash.hpp"
#include "identity/errc.hpp"
#include "identity/identity_inbox.hpp"
#include "identity/remembered_accounts.hpp"
#include "identity/stored_identities.hpp"

namespace skua::identity {
namespace {

/// How soon to look again when requests wait for a rate or a wait to be over.
constexpr std::chrono::milliseconds kHeldBack{20};
constexpr int kMaxAttempts = 5;

using Ask = IdentityInbox::Ask;
using Fetched = IdentityInbox::Fetched;

}  // namespace

class IdentityCache::Impl {
 public:
  Impl(const DidResolver& resolver, IdentityCacheOptions options, const Clock& clock)
      : resolver_(resolver),
        options_(std::move(options)),
        clock_(clock),
        pace_(options_.pace != nullptr ? *options_.pace : clock),
        inbox_(std::make_shared<IdentityInbox>(options_.max_waiting)),
        table_(options_.database_url, options_.application_name),
        remembered_({.max_accounts = options_.max_cached,
                     .data_failure = options_.remember_data_failure,
                     .server_failure = options_.remember_server_failure}),
        requests_(options_.requests),
        thread_([this] { run_guarded(); }) {}

  ~Impl() { stop(); }

  void ask(Ask ask) { inbox_->push(std::move(ask)); }
  void change(std::vector<std::string> dids) { inbox_->push_changed(std::move(dids)); }

  void stop() {
    inbox_->stop();
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
    std::optional<Account> stale;
    int attempts = 0;
  };

  void give(const Callback& done, const Answer& answer) {
    inbox_->answered();
    done(answer);
  }

  void run_guarded() {
    try {
      run();
    } catch (const std::exception& error) {
      if (!options_.on_defect) throw;
      inbox_->stop();
      options_.on_defect(std::string("identities cannot be looked up: ") + error.what());
    }
  }

  void run() {
    std::vector<Ask> unanswered;
    while (true) {
      IdentityInbox::Content content =
          inbox_->wait(requests_.waits_for_time() ? std::optional(kHeldBack) : std::nullopt);
      if (content.is_stopped) {
        unanswered = std::move(content.asks);
        break;
      }
      std::vector<IdentityRow> news;
      for (const auto& did : content.changed) remembered_.invalidate(did);
      for (auto& one : content.fetched) take(std::move(one), news);
      take(std::move(content.asks));
      while (const auto did = requests_.next(pace_.now())) request(*did);
      statistics_.waiting = pending_.size();
      table_.save(std::move(news));
    }
    for (const auto& one : unanswered) give(one.done, errc::stopped);
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
      if (const auto* known = remembered_.find(one.did)) pending.stale = *known;
      // The table may be kept current.
      const bool load = !one.refresh && (!pending.stale || atproto::is_plc_did(one.did));
      pending.askers.push_back({one.refresh, std::move(one.done)});
      pending_.emplace(one.did, std::move(pending));
      if (load) {
        to_load.push_back(std::move(one.did));
      } else {
        requests_.push(std::move(one.did));
      }
    }
    if (!to_load.empty()) load(to_load);
  }

  bool answered_from_memory(const Ask& ask) {
    const auto answer =
        remembered_.answer(ask.did, ask.max_age, ask.refresh, {clock_.now(), pace_.now()});
    if (!answer) return false;
    if (*answer) ++statistics_.from_memory;
    give(ask.done, *answer);
    return true;
  }

  /// Looks DIDs up in the table; those that are not there, or stale, will be asked for.
  void load(const std::vector<std::string>& dids) {
    for (const auto& row : table_.load(dids)) {
      auto account = account_of(row);
      auto& pending = pending_.at(row.did);
      // While the table was away it missed a document.
      const bool is_older = account && pending.stale && row.fetched_at < pending.stale->fetched_at;
      if (!account || is_older) continue;
      remembered_.keep(*account);
      if (is_fresh(row) && !wants_refresh(pending)) {
        ++statistics_.from_table;
        finish(row.did, *account);
      } else {
        pending.stale = std::move(account);
      }
    }
    for (const auto& did : dids) {
      if (pending_.contains(did)) requests_.push(did);
    }
  }

  bool is_fresh(const IdentityRow& row) const {
    const auto is_young = [this, now = clock_.now()](Timestamp time) {
      return time <= now && now - time < options_.fresh_for;
    };
    return is_young(row.fetched_at) || (row.current_at && is_young(*row.current_at));
  }

  static bool wants_refresh(const Pending& pending) {
    return std::any_of(pending.askers.begin(), pending.askers.end(),
                       [](const Asker& asker) { return asker.refresh; });
  }

  void request(const std::string& did) {
    ++pending_.at(did).attempts;
    resolver_.resolve(
        did, [inbox = inbox_, did, &clock = pace_, started_at = pace_.now()](DidAnswer answer) {
          const auto duration = clock.now() - started_at;
          inbox->push(Fetched{did, std::move(answer), started_at, duration});
        });
  }

  void take(Fetched fetched, std::vector<IdentityRow>& news) {
    requests_.finished(fetched.did, fetched.answer, fetched.started_at, fetched.duration,
                       pace_.now());
    if (statistics_.directory_failures.exchange(requests_.directory_failures()) <
        requests_.directory_failures()) {
      statistics_.directory_failed_at = std::chrono::steady_clock::now();
    }
    const auto now = clock_.now();
    auto& account = fetched.answer.account;
    if (account) {
      ++statistics_.fetched;
      account->fetched_at = now;
      remembered_.fetched(*account);
      news.push_back(row_of(*account));
      finish(fetched.did, account);
      return;
    }
    const auto error = account.error();
    // One directory serves all of did:plc: what it says to one holds for the others. Hosts of
    // did:web speak for themselves.
    if (error == errc::rate_limited && atproto::is_plc_did(fetched.did)) {
      ++statistics_.waits;
      if (pending_.at(fetched.did).attempts < kMaxAttempts) {
        requests_.repeat(std::move(fetched.did));
        return;
      }
    }
    const bool servers = is_server_failure(error);
    ++(servers ? statistics_.server_failures : statistics_.data_failures);
    // What is known no longer holds; nor does the table's copy, which would come back.
    if (!servers && remembered_.forget(fetched.did)) {
      news.push_back({fetched.did, {}, {}, {}, now, std::nullopt});
    }
    remembered_.failed(fetched.did, error, pace_.now());
    fail(fetched.did, error, servers);
  }

  void finish(const std::string& did, const Answer& account) {
    auto pending = pending_.extract(did);
    for (const auto& asker : pending.mapped().askers) give(asker.done, account);
  }

  void fail(const std::string& did, ErrorCode error, bool servers) {
    auto pending = pending_.extract(did);
    const auto& stale = pending.mapped().stale;
    for (const auto& asker : pending.mapped().askers) {
      const bool stale_serves = servers && stale && !asker.refresh;
      give(asker.done, stale_serves ? Answer(*stale) : Answer(error));
    }
  }

  const DidResolver& resolver_;
  const IdentityCacheOptions options_;
  const Clock& clock_;
  const Clock& pace_;
  IdentityStatistics statistics_;
  const std::shared_ptr<IdentityInbox> inbox_;

  // On the cache's thread.
  StoredIdentities table_;
  RememberedAccounts remembered_;
  std::unordered_map<std::string, Pending, SeededHash> pending_;
  DocumentRequests requests_;

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

void IdentityCache::table_changed(std::vector<std::string> dids) {
  impl_->change(std::move(dids));
}

void IdentityCache::stop() {
  impl_->stop();
}

const IdentityStatistics& IdentityCache::statistics() const {
  return impl_->statistics();
}

}  // namespace skua::identity
