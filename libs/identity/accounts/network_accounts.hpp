#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "accounts/account_source.hpp"
#include "base/shares.hpp"
#include "base/time.hpp"
#include "transport/adaptive_limit.hpp"
#include "transport/address_guard.hpp"

namespace skua::accounts {

/// How much may be asked for hosting statuses.
struct StatusLimits {
  /// Documents of did:plc accounts, from the directory.
  std::size_t directory_at_once = 16;
  /// Documents of did:web accounts, from their hosts.
  std::size_t web_at_once = 64;
  /// Statuses, from the hosts of the accounts.
  std::size_t hosts_at_once = 128;
  /// Active requests to one host, of either kind.
  std::size_t of_one_host = 2;
  /// Questions that wait; further ones are refused (errc::busy).
  std::size_t waiting = 1'000;
  /// A question that has waited for this time is refused (errc::busy). It waits twice: for the
  /// document and for the host.
  std::chrono::milliseconds patience{10'000};
};

struct NetworkAccountsOptions {
  std::string plc_url = "https://plc.directory";
  std::string ca_file = {};
  bool allow_private_hosts = false;
  /// Messages of an account wait for an answer, and in the end all other messages wait, too.
  /// Therefore a slow host counts as one that does not answer.
  std::chrono::milliseconds connect_timeout{3'000};
  std::chrono::milliseconds total_timeout{6'000};
  transport::HostLookup lookup = transport::look_up_host;

  /// The database with `skua.identities`; empty: nothing is stored.
  std::string database_url = {};
  /// The name of this session in the database.
  std::string application_name = "skua identity";

  /// Accounts in memory, of about 640 bytes each. verify::KnownRepositories has the keys in use.
  std::size_t max_cached = 50'000;
  /// An older document is fetched again for Freshness::Known.
  std::chrono::seconds fresh_for = std::chrono::hours(24);
  /// The same for Freshness::Recent: one request for each failure is enough.
  std::chrono::seconds recent_for = std::chrono::seconds(10);
  /// How long a failure of the data, and one of a server, is returned again without a request.
  std::chrono::seconds remember_data_failure = std::chrono::minutes(5);
  std::chrono::seconds remember_server_failure = std::chrono::seconds(30);

  /// Requests for documents to the PLC directory.
  transport::AdaptiveLimitOptions directory = transport::requests_per_second();
  /// Requests for documents to hosts of did:web: active ones, active ones to the hosts of a site,
  /// and a rate.
  std::size_t web_at_once = 32;
  std::size_t web_at_once_of_one_site = 4;
  double web_per_second = 50;
  /// Active questions for accounts; further ones are refused (errc::busy).
  std::size_t max_waiting = 100'000;
  /// The pause before a question is asked again. A failure of a server is remembered for a shorter
  /// time, so that each repetition is a request.
  std::chrono::milliseconds retry_pause{31'000};
  /// The questions of an account with Freshness::Now. Each is a request.
  Share new_of_account = {.burst = 20, .every = std::chrono::seconds(5)};
  StatusLimits statuses = {};

  /// Paces requests and dates failures. It does not jump, and outlives the object.
  const Clock* pace = &monotonic_clock();
  /// Called at most once, on the thread of the source, after a fatal error: all questions are
  /// refused from then on (errc::stopped). Empty: the process ends.
  std::function<void(const std::string& what)> on_fatal = nullptr;
};

/// Counters of the source. Its thread writes them, and any thread reads them.
struct AccountStatistics {
  /// Questions for accounts, without refused ones.
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> from_memory{0};
  std::atomic<std::uint64_t> from_table{0};
  /// Documents that came.
  std::atomic<std::uint64_t> fetched{0};
  std::atomic<std::uint64_t> data_failures{0};
  std::atomic<std::uint64_t> server_failures{0};
  /// How often the directory asked us to wait (429).
  std::atomic<std::uint64_t> waits{0};
  /// Accounts that are looked up at this moment.
  std::atomic<std::uint64_t> waiting{0};
  /// Requests for documents to the PLC directory that failed since its last answer.
  std::atomic<std::uint64_t> directory_failures{0};
  /// When the last of them failed.
  std::atomic<std::chrono::steady_clock::time_point> directory_failed_at{
      std::chrono::steady_clock::time_point()};
};

/// Answers from memory, `skua.identities`, and the network: the PLC directory, the hosts of did:web
/// documents, and the accounts' own hosts.
///
/// A row of the table that the export of the PLC directory keeps current (IdentityRow::current_at)
/// stays fresh. One request is made at a time for a DID, for all who ask. Failures are remembered
/// for a short time. If a server fails (documents::is_server_failure), Freshness::Known returns an
/// older document. While the database is down it works without the table.
///
/// Attackers can cause requests to any number of silent hosts. Therefore each kind of request has
/// a RequestQueue of its own, and no kind waits for another. The HTTP client has room for all.
///
/// It has a thread with a database session, and an HTTP client. Each question is a coroutine on
/// that thread; the answer arrives there, or on the caller's thread after a stop (errc::stopped).
/// `done` must not block or throw.
class NetworkAccounts final : public AccountSource {
 public:
  /// `clock` dates documents and outlives the object. Throws std::runtime_error if the CA file
  /// cannot be used.
  NetworkAccounts(const NetworkAccountsOptions& options, const Clock& clock);
  /// Stops if necessary.
  ~NetworkAccounts() override;

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override;
  void identity_once(const std::string& did, Freshness freshness, IdentityDone done) override;
  bool has_hosts() const override { return true; }
  void status(const std::string& did, StatusDone done) override;
  void keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) override;
  std::string failure_text(const std::string& did, const ErrorCode& error) const override;
  /// Any thread except its own.
  void stop() override;

  /// Another part of the program has written the rows of these DIDs in `skua.identities`: drops
  /// these accounts from the memory. Any thread.
  void table_changed(std::vector<std::string> dids);

  /// Requests for documents to the PLC directory. Any thread.
  struct DirectoryFailures {
    /// The failed requests since the last answer.
    std::uint64_t count = 0;
    /// The time of the last failure.
    std::chrono::steady_clock::time_point latest;
  };
  DirectoryFailures directory_failures() const {
    return {statistics().directory_failures, statistics().directory_failed_at};
  }
  const AccountStatistics& statistics() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace skua::accounts
