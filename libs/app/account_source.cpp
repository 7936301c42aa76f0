#include "app/account_source.hpp"

#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "identity/did_resolver.hpp"
#include "identity/errc.hpp"
#include "identity/recent_map.hpp"
#include "transport/errc.hpp"

namespace skua::app {
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
      identity::IdentityCacheOptions().directory.under_way_at_most + kHistoriesAtOnce;
  http.idle_of_one_origin = http.max_at_once;
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
  return cache;
}

void tell_no_status(const std::string& did, const std::string& reason, const ErrorCode& error) {
  if (error == identity::errc::stopped || error == transport::errc::http_stopped) return;
  logger("identity")->info("did={}: whether it is active is not known: {}", did, reason);
}

}  // namespace

DocumentAccounts::DocumentAccounts(const std::filesystem::path& file)
    : documents_(identity::DocumentFile::read(file)) {}

void DocumentAccounts::identity(const std::string& did, Freshness /*freshness*/,
                                IdentityDone done) {
  const identity::DidDocument* document = documents_.find(did);
  if (document == nullptr) return done(identity::errc::did_not_found);
  done(AccountIdentity{document->key.multikey(), document->handle, document->pds,
                       document->label_key});
}

void DocumentAccounts::status(const std::string& /*did*/, StatusDone done) {
  done(identity::errc::server_failed);
}

void DocumentAccounts::key_at(const std::string& /*did*/, Timestamp /*time*/, KeyUse /*use*/,
                              KeyDone done) {
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
  };
  std::mutex mutex;
  identity::RecentMap<Known> known{kHistories};
};

NetworkAccounts::NetworkAccounts(const NetworkAccountsOptions& options, const Clock& clock)
    : resolver_options_(resolver_options(options)),
      clock_(clock),
      directory_(directory_options(options)),
      web_(http_options(options)),
      hosts_(http_options(options)),
      resolver_(directory_, web_, resolver_options_, clock),
      cache_(resolver_, cache_options(options), clock),
      histories_(std::make_shared<Histories>()) {}

NetworkAccounts::~NetworkAccounts() {
  stop();
}

void NetworkAccounts::identity(const std::string& did, Freshness freshness, IdentityDone done) {
  auto answer = [done = std::move(done)](const identity::IdentityCache::Answer& found) {
    if (!found) return done(found.error());
    done(AccountIdentity{(*found)->key.multikey(), (*found)->handle, (*found)->pds,
                         (*found)->label_key});
  };
  switch (freshness) {
    case Freshness::Known:
      return cache_.resolve(did, std::move(answer));
    case Freshness::Recent:
      return cache_.refresh(did, std::move(answer));
    case Freshness::Now:
      return cache_.refresh(did, std::move(answer), std::chrono::seconds(0));
  }
}

void NetworkAccounts::status(const std::string& did, StatusDone done) {
  // Its document as it is now: what it says of an account's host is what is in doubt.
  cache_.refresh(
      did,
      [this, did, done = std::move(done)](const auto& found) {
        if (!found) {
          tell_no_status(did, failure_text(did, found.error()), found.error());
          return done(found.error());
        }
        const std::string& pds = (*found)->pds;
        identity::ask_host_status(
            hosts_, pds, did, [did, pds, done](Result<identity::HostStatus> status) {
              if (!status) {
                tell_no_status(did, pds + ": " + status.error().message(), status.error());
              }
              done(std::move(status));
            });
      },
      std::chrono::seconds(0));
}

void NetworkAccounts::key_at(const std::string& did, Timestamp time, KeyUse use, KeyDone done) {
  const Timestamp now = clock_.now();
  std::shared_ptr<const identity::KeyHistory> history;
  {
    const std::scoped_lock lock(histories_->mutex);
    const auto* known = histories_->known.find(did);
    if (known != nullptr && now - known->asked_at < kHistoryFresh) history = known->history;
  }
  if (history) return done(identity::key_at(*history, time, use));
  identity::ask_key_history(directory_, resolver_options_.plc_url, did,
                            [histories = histories_, did, time, use, now,
                             done = std::move(done)](Result<identity::KeyHistory> found) {
                              if (!found) return done(found.error());
                              const auto kept =
                                  std::make_shared<const identity::KeyHistory>(*std::move(found));
                              {
                                const std::scoped_lock lock(histories->mutex);
                                histories->known.put(did, {now, kept});
                              }
                              done(identity::key_at(*kept, time, use));
                            });
}

std::string NetworkAccounts::failure_text(const std::string& did, const ErrorCode& error) const {
  return identity::failure_text(did, error, resolver_options_);
}

void NetworkAccounts::stop() {
  // The clients first: their answers end in the cache.
  directory_.stop();
  web_.stop();
  hosts_.stop();
  cache_.stop();
}

}  // namespace skua::app
