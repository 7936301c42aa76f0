#include "app/account_source.hpp"

#include <utility>

#include "identity/did_resolver.hpp"
#include "identity/errc.hpp"

namespace skua::app {
namespace {

/// Frames of the account wait for the answer, and with them, in the end, all others: who is slower
/// than this is not worth it.
constexpr std::chrono::seconds kConnectTimeout{3};
constexpr std::chrono::seconds kTotalTimeout{6};
/// The keys in use are in verify::KnownRepositories: here are those that just came.
constexpr std::size_t kCachedIdentities = 50'000;

transport::HttpClientOptions http_options(const NetworkAccountsOptions& options) {
  transport::HttpClientOptions http;
  http.ca_file = options.ca_file;
  http.allow_private_hosts = options.allow_private_hosts;
  http.connect_timeout = kConnectTimeout;
  http.total_timeout = kTotalTimeout;
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
  return cache;
}

}  // namespace

DocumentAccounts::DocumentAccounts(const std::filesystem::path& file)
    : documents_(identity::DocumentFile::read(file)) {}

void DocumentAccounts::identity(const std::string& did, Freshness /*freshness*/,
                                IdentityDone done) {
  const identity::DidDocument* document = documents_.find(did);
  if (document == nullptr) return done(identity::errc::did_not_found);
  done(AccountIdentity{document->key.multikey(), document->handle});
}

void DocumentAccounts::status(const std::string& /*did*/, StatusDone done) {
  done(identity::errc::server_failed);
}

NetworkAccounts::NetworkAccounts(const NetworkAccountsOptions& options, const Clock& clock)
    : http_(http_options(options)),
      resolver_(http_, resolver_options(options), clock),
      cache_(resolver_, cache_options(options), clock) {}

NetworkAccounts::~NetworkAccounts() {
  stop();
}

void NetworkAccounts::identity(const std::string& did, Freshness freshness, IdentityDone done) {
  auto answer = [done = std::move(done)](const identity::IdentityCache::Answer& found) {
    if (!found) return done(found.error());
    done(AccountIdentity{(*found)->key.multikey(), (*found)->handle});
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
        if (!found) return done(found.error());
        identity::ask_host_status(http_, (*found)->pds, did, done);
      },
      std::chrono::seconds(0));
}

void NetworkAccounts::stop() {
  // The client first: its answers end in the cache.
  http_.stop();
  cache_.stop();
}

}  // namespace skua::app
