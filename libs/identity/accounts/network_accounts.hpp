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

/// The limits for questions about hosting statuses.
struct StatusLimits {
  /// The limit of active requests to the directory, for documents of did:plc accounts.
  std::size_t directory_at_once = 16;
  /// The limit of active requests to hosts of did:web, for documents.
  std::size_t web_at_once = 64;
  /// The limit of active requests to the hosts of accounts, for statuses.
  std::size_t hosts_at_once = 128;
  /// The limit of active requests to one host, for documents and for statuses.
  std::size_t of_one_host = 2;
  /// The limit of waiting questions. Further questions are refused (errc::busy).
  std::size_t waiting = 1'000;
  /// A question that has waited for this time is refused (errc::busy). Each question waits twice:
  /// for the document and for the host.
  std::chrono::milliseconds patience{10'000};
};

struct NetworkAccountsOptions {
  std::string plc_url = "https://plc.directory";
  std::string ca_file = {};
  bool allow_private_hosts = false;
  /// The timeouts are short, because messages of an account wait for an answer, and in the end all
  /// other messages wait, too. So a slow host counts as a host that does not answer.
  std::chrono::milliseconds connect_timeout{3'000};
  std::chrono::milliseconds total_timeout{6'000};
  transport::HostLookup lookup = transport::look_up_host;

  /// The database with `skua.identities`. If empty, nothing is stored.
  std::string database_url = {};
  /// The name of this session in the database.
  std::string application_name = "skua identity";

  /// The number of accounts in memory, of about 640 bytes each. verify::KnownRepositories has the
  /// keys in use.
  std::size_t max_cached = 50'000;
  /// For Freshness::Known an older document is fetched again.
  std::chrono::seconds fresh_for = std::chrono::hours(24);
  /// For Freshness::Recent an older document is fetched again. One request for each failure is
  /// enough.
  std::chrono::seconds recent_for = std::chrono::seconds(10);
  /// The times for which a failure of the data, and a failure of a server, is returned again
  /// without a request.
  std::chrono::seconds remember_data_failure = std::chrono::minutes(5);
  std::chrono::seconds remember_server_failure = std::chrono::seconds(30);

  /// The limits of requests for documents to the PLC directory.
  transport::AdaptiveLimitOptions directory = transport::requests_per_second();
  /// The limits of requests for documents to hosts of did:web: the active requests, the active
  /// requests to the hosts of one site, and a rate.
  std::size_t web_at_once = 32;
  std::size_t web_at_once_of_one_site = 4;
  double web_per_second = 50;
  /// The limit of active questions for accounts. Further questions are refused (errc::busy).
  std::size_t max_waiting = 100'000;
  /// The pause before a question is repeated. A failure of a server is remembered for a shorter
  /// time, so that each repetition is a request.
  std::chrono::milliseconds retry_pause{31'000};
  /// The share of an account for questions with Freshness::Now, each of which is a request.
  Share new_of_account = {.burst = 20, .every = std::chrono::seconds(5)};
  StatusLimits statuses = {};

  /// The clock that paces requests and dates failures. It must not jump, and must outlive the
  /// object.
  const Clock* pace = &monotonic_clock();
  /// Called at most once, on the thread of the source, after a fatal error. From then on all
  /// questions are refused (errc::stopped). If empty, the process ends.
  std::function<void(const std::string& what)> on_fatal = nullptr;
};

/// The counters of the source. Its thread writes them, and any thread reads them.
struct AccountStatistics {
  /// Questions for accounts, without refused questions.
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> from_memory{0};
  std::atomic<std::uint64_t> from_table{0};
  /// Documents that were fetched.
  std::atomic<std::uint64_t> fetched{0};
  std::atomic<std::uint64_t> data_failures{0};
  std::atomic<std::uint64_t> server_failures{0};
  /// The number of times that the directory asked us to wait (429).
  std::atomic<std::uint64_t> waits{0};
  /// The number of accounts that are looked up at this moment.
  std::atomic<std::uint64_t> waiting{0};
  /// The number of requests for documents to the PLC directory that failed since its last answer.
  std::atomic<std::uint64_t> directory_failures{0};
  /// The time of the last of these failures.
  std::atomic<std::chrono::steady_clock::time_point> directory_failed_at{
      std::chrono::steady_clock::time_point()};
};

/// Answers from memory, `skua.identities`, and the network: the PLC directory, the hosts of did:web
/// documents, and the accounts' own hosts.
///
/// A row of the table stays fresh while the export of the PLC directory keeps it current
/// (IdentityRow::current_at). Only one request at a time is made for a DID, and its answer serves
/// all questions. Failures are remembered for a short time. If a server fails
/// (documents::is_server_failure), Freshness::Known returns an older document. While the database
/// is down the source works without the table.
///
/// Attackers can cause requests to any number of silent hosts. So each kind of request has its own
/// RequestQueue, and no kind waits for another. The HTTP client has room for all kinds.
///
/// The source has a thread with a database session, and an HTTP client. Each question is a
/// coroutine on that thread. The answer arrives there, or on the caller's thread after a stop
/// (errc::stopped). `done` must not block or throw.
class NetworkAccounts final : public AccountSource {
 public:
  /// `clock` dates documents and must outlive the object. Throws std::runtime_error if the CA file
  /// cannot be used.
  NetworkAccounts(const NetworkAccountsOptions& options, const Clock& clock);
  /// Calls `stop` if necessary.
  ~NetworkAccounts() override;

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override;
  void identity_once(const std::string& did, Freshness freshness, IdentityDone done) override;
  bool has_hosts() const override { return true; }
  void status(const std::string& did, StatusDone done) override;
  void keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) override;
  std::string failure_text(const std::string& did, const ErrorCode& error) const override;
  /// Any thread except the thread of the source.
  void stop() override;

  /// Removes these accounts from the memory. Called when another part of the program has written
  /// their rows in `skua.identities`. Any thread.
  void table_changed(std::vector<std::string> dids);

  /// The failures of requests for documents to the PLC directory. Any thread.
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
