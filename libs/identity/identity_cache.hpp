#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "identity/account.hpp"
#include "identity/did_resolver.hpp"
#include "identity/document_requests.hpp"

namespace skua::identity {

struct IdentityCacheOptions {
  /// Where `skua.identities` lies; empty: nothing is stored.
  std::string database_url;
  /// How other sessions of the database see this one.
  std::string application_name = "skua identity";
  /// In memory: about 640 bytes each.
  std::size_t max_cached = 500'000;
  /// Older documents are fetched again on request.
  std::chrono::seconds fresh_for = std::chrono::hours(24);
  /// A refresh returns a younger document unchanged, unless the caller asks for less: one refresh
  /// for each failure is enough.
  std::chrono::seconds refresh_pause = std::chrono::seconds(10);
  /// For how long a failure is given again without asking: the data's, and the server's.
  std::chrono::seconds remember_data_failure = std::chrono::minutes(5);
  std::chrono::seconds remember_server_failure = std::chrono::seconds(30);
  DocumentRequestsOptions requests = {};
  /// Asks without an answer so far, several for one DID included; further ones are refused
  /// (errc::busy).
  std::size_t max_waiting = 100'000;
  /// By which requests are paced and failures remembered: one that does not jump. Null: the cache's
  /// clock. Outlives the cache.
  const Clock* pace = nullptr;
  /// Called once, on the cache's thread, when it cannot go on: from then on all asks are refused
  /// (errc::stopped). Empty: the process ends.
  std::function<void(const std::string& what)> on_defect = nullptr;
};

/// What happened so far. Written by the cache's thread, read by any.
struct IdentityStatistics {
  /// Without those refused as busy.
  std::atomic<std::uint64_t> asked{0};
  /// Accounts, also stale ones while a server fails.
  std::atomic<std::uint64_t> from_memory{0};
  std::atomic<std::uint64_t> from_table{0};
  /// Documents that came.
  std::atomic<std::uint64_t> fetched{0};
  std::atomic<std::uint64_t> data_failures{0};
  std::atomic<std::uint64_t> server_failures{0};
  /// Times that a directory asked us to wait (429).
  std::atomic<std::uint64_t> waits{0};
  /// DIDs that wait for their document at this moment.
  std::atomic<std::uint64_t> waiting{0};
  /// Requests to the PLC directory that failed since its last answer.
  std::atomic<std::uint64_t> directory_failures{0};
  /// When the last of them failed.
  std::atomic<std::chrono::steady_clock::time_point> directory_failed_at{
      std::chrono::steady_clock::time_point()};
};

/// Accounts by DID: from memory, then `skua.identities`, then the network. Rows that the export of
/// the PLC directory keeps current (IdentityRow::current_at) stay fresh. It makes one request at
/// a time for a DID, for all callers. It remembers failures for a short time. If a server fails
/// (`is_server_failure`), a stale account stays in use. Has a thread and a database session of its
/// own; it works without the database while that is down.
class IdentityCache {
 public:
  using Answer = Result<Account>;
  using Callback = std::function<void(const Answer&)>;

  /// `resolver` and `clock` must outlive the cache.
  IdentityCache(const DidResolver& resolver, IdentityCacheOptions options,
                const Clock& clock = system_clock());
  /// Stops if need be.
  ~IdentityCache();
  IdentityCache(const IdentityCache&) = delete;
  IdentityCache& operator=(const IdentityCache&) = delete;

  /// Gives an account that is at most `fresh_for` old, or older when its server fails. Any thread.
  /// `done` is called once, on the cache's thread, or on this one when the ask is refused (busy,
  /// stopped), and must neither block nor throw. Errors: those of DidResolver, busy, stopped.
  void resolve(std::string did, Callback done);

  /// Fetches the document again, because the known one did not match or may have changed (a wrong
  /// signature, an #identity event). Otherwise as `resolve`, but a failure does not return a stale
  /// account. `max_age`: an older document is fetched again; by default the options'
  /// refresh_pause.
  void refresh(std::string did, Callback done,
               std::optional<std::chrono::seconds> max_age = std::nullopt);

  /// Another part of the program has written the rows of these DIDs in `skua.identities`: what is
  /// known of them in memory no longer holds. Any thread.
  void table_changed(std::vector<std::string> dids);

  /// Ends waiting requests (errc::stopped) and joins the thread. Any thread except the cache's own;
  /// idempotent. The HTTP client ends active requests.
  void stop();

  const IdentityStatistics& statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::identity
