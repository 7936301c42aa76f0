#include "accounts/account_source.hpp"

#include <mutex>
#include <utility>

#include "atproto/syntax.hpp"
#include "base/generational_map.hpp"
#include "base/log.hpp"
#include "base/seeded_hash.hpp"
#include "identity/did_resolver.hpp"
#include "identity/errc.hpp"
#include "transport/errc.hpp"

namespace skua::accounts {
namespace {

/// Frames of the account wait for the answer, and with them, in the end, all others: who is slower
/// than this is not worth it.
constexpr std::chrono::seconds kConnectTimeout{3};
constexpr std::chrono::seconds kTotalTimeout{6};
/// The keys in use are in verify::KnownRepositories: here are those that just came.
constexpr std::size_t kCachedIdentities = 50'000;

/// Key histories that are kept, and for how long: a commit that no key fits must not make the
/// directory answer again and again.
constexpr std::size_t kHistories = 1'000;
constexpr std::chrono::seconds kHistoryFresh{10};
/// The requests for one history in that time: a newer key may have signed a commit that was made
/// after the last request.
constexpr int kRequestsOfHistory = 3;

/// Requests for key histories, besides those for documents.
constexpr std::size_t kHistoriesAtOnce = 16;

transport::HttpClientOptions http_options(const NetworkAccountsOptions& options) {
  transport::HttpClientOptions http;
  http.ca_file = options.ca_file;
  http.allow_private_hosts = options.allow_private_hosts;
  http.connect_timeout = kConnectTimeout;
  http.total_timeout = kTotalTimeout;
  return http;
}

transport::HttpClientOptions directory_options(const NetworkAccountsOptions& options) {
  auto http = http_options(options);
  http.max_at_once =
      identity::DocumentRequestsOptions().directory.under_way_at_most + kHistoriesAtOnce;
  http.idle_of_one_origin = http.max_at_once;
  return http;
}

transport::HttpClientOptions status_options(const NetworkAccountsOptions& options) {
  const identity::StatusLaneLimits limits;
  auto http = http_options(options);
  http.max_at_once = limits.web_at_once + limits.hosts_at_once;
  return http;
}

identity::DidResolverOptions resolver_options(const NetworkAccountsOptions& options) {
  identity::DidResolverOptions resolver;
  resolver.plc_url = options.plc_url;
  resolver.allow_private_hosts = options.allow_private_hosts;
  return resolver;
}

identity::IdentityCacheOptions cache_options(const NetworkAccountsOptions& options) {
  identity::IdentityCacheOptions cache;
  cache.database_url = options.database_url;
  cache.max_cached = kCachedIdentities;
  cache.pace = &monotonic_clock();
  cache.on_defect = options.on_defect;
  return cache;
}

Result<std::string> pds_of(const identity::Account& account) {
  if (account.pds.empty()) return identity::errc::document_without_pds;
  return account.pds;
}

void tell_no_status(const std::string& did, const std::string& reason, const ErrorCode& error) {
  if (error == identity::errc::stopped || error == transport::errc::http_stopped) return;
  logger("identity")->info("did={}: its hosting status is unknown: {}", did, reason);
}

}  // namespace

DocumentAccounts::DocumentAccounts(const std::filesystem::path& file)
    : documents_(identity::DocumentFile::read(file)) {}

void DocumentAccounts::identity(const std::string& did, Freshness /*freshness*/,
                                IdentityDone done) {
  const identity::Account* account = documents_.find(did);
  if (account == nullptr) return done(identity::errc::did_not_found);
  done(*account);
}

void DocumentAccounts::status(const std::string& /*did*/, StatusDone done) {
  done(identity::errc::server_failed);
}

void DocumentAccounts::keys_near(const std::string& /*did*/, Timestamp /*time*/, KeyUse /*use*/,
                                 KeysDone done) {
  done(identity::errc::did_not_found);
}

std::string DocumentAccounts::failure_text(const std::string& /*did*/,
                                           const ErrorCode& error) const {
  return error.message();
}

struct NetworkAccounts::Histories {
  struct Known {
    Timestamp asked_at;
    std::shared_ptr<const identity::KeyHistory> history;
    /// The requests since a time.
    Timestamp counts_since;
    int requests = 1;
  };
  std::mutex mutex;
  GenerationalMap<std::string, Known, SeededHash> known{kHistories};

  /// Null: it is not known, or too old for a commit or a label of this time.
  std::shared_ptr<const identity::KeyHistory> find(const std::string& did, Timestamp time,
                                                   Timestamp now) {
    const std::scoped_lock lock(mutex);
    const Known* found = known.find(did);
    if (found == nullptr || now - found->asked_at >= kHistoryFresh) return nullptr;
    const bool may_ask_again =
        found->requests < kRequestsOfHistory || now - found->counts_since >= kHistoryFresh;
    return time >= found->asked_at && may_ask_again ? nullptr : found->history;
  }
  void keep(const std::string& did, Timestamp asked_at,
            std::shared_ptr<const identity::KeyHistory> history) {
    const std::scoped_lock lock(mutex);
    Known next{.asked_at = asked_at, .history = std::move(history), .counts_since = asked_at};
    const Known* before = known.find(did);
    if (before != nullptr && asked_at - before->counts_since < kHistoryFresh) {
      next.counts_since = before->counts_since;
      next.requests = before->requests + 1;
    }
    known.insert(did, std::move(next));
  }
};

NetworkAccounts::NetworkAccounts(const NetworkAccountsOptions& options, const Clock& clock)
    : resolver_options_(resolver_options(options)),
      clock_(clock),
      directory_(directory_options(options)),
      web_(http_options(options)),
      hosts_(status_options(options)),
      resolver_(directory_, web_, resolver_options_, clock),
      status_resolver_(directory_, hosts_, resolver_options_, clock),
      cache_(resolver_, cache_options(options), clock),
      statuses_(status_requests()),
      histories_(std::make_shared<Histories>()) {}

NetworkAccounts::~NetworkAccounts() {
  stop();
}

void NetworkAccounts::identity(const std::string& did, Freshness freshness, IdentityDone done) {
  switch (freshness) {
    case Freshness::Known:
      return cache_.resolve(did, std::move(done));
    case Freshness::Recent:
      return cache_.refresh(did, std::move(done));
    case Freshness::Now:
      return cache_.refresh(did, std::move(done), std::chrono::seconds(0));
  }
}

identity::StatusLane::Requests NetworkAccounts::status_requests() {
  identity::StatusLane::Requests requests;
  // Fetches the document again: its host may have changed.
  requests.find_pds = [this](const std::string& did, identity::StatusLane::PdsDone done) {
    const auto answer = [this, did, done = std::move(done)](Result<std::string> pds) {
      if (!pds) tell_no_status(did, failure_text(did, pds.error()), pds.error());
      done(std::move(pds));
    };
    if (atproto::is_plc_did(did)) {
      // The directory's own limits hold for all questions together.
      cache_.refresh(
          did, [answer](const auto& found) { answer(found ? pds_of(*found) : found.error()); },
          std::chrono::seconds(0));
    } else {
      status_resolver_.resolve(did, [answer](const identity::DidAnswer& found) {
        answer(found.account ? pds_of(*found.account) : found.account.error());
      });
    }
  };
  requests.ask_pds = [this](const std::string& pds, const std::string& did, StatusDone done) {
    identity::ask_host_status(
        hosts_, pds, did, [did, pds, done = std::move(done)](Result<identity::HostStatus> status) {
          if (!status) tell_no_status(did, pds + ": " + status.error().message(), status.error());
          done(std::move(status));
        });
  };
  return requests;
}

void NetworkAccounts::status(const std::string& did, StatusDone done) {
  if (const auto possible = resolver_.can_resolve(did); !possible) {
    tell_no_status(did, possible.error().message(), possible.error());
    return done(possible.error());
  }
  statuses_.ask(did, [did, done = std::move(done)](Result<identity::HostStatus> status) {
    // The owner of the DID has ended it, so no host has the account.
    if (!status && status.error() == identity::errc::did_tombstoned) {
      return done(identity::HostStatus{false, "deleted"});
    }
    if (!status && status.error() == identity::errc::busy) {
      tell_no_status(did, "too many hosts are being asked", status.error());
    }
    done(std::move(status));
  });
}

void NetworkAccounts::keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) {
  const Timestamp now = clock_.now();
  if (const auto history = histories_->find(did, time, now)) {
    return done(identity::keys_near(*history, time, use));
  }
  identity::ask_key_history(directory_, resolver_options_.plc_url, did,
                            [histories = histories_, did, time, use, now,
                             done = std::move(done)](Result<identity::KeyHistory> found) {
                              if (!found) return done(found.error());
                              const auto kept =
                                  std::make_shared<const identity::KeyHistory>(*std::move(found));
                              histories->keep(did, now, kept);
                              done(identity::keys_near(*kept, time, use));
                            });
}

std::string NetworkAccounts::failure_text(const std::string& did, const ErrorCode& error) const {
  return identity::failure_text(did, error, resolver_options_);
}

void NetworkAccounts::stop() {
  // What waits first, then the clients: their answers end in the cache.
  statuses_.stop();
  directory_.stop();
  web_.stop();
  hosts_.stop();
  cache_.stop();
}

}  // namespace skua::accounts
