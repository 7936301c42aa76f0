#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "identity/account.hpp"
#include "identity/document_file.hpp"
#include "identity/host_status.hpp"
#include "identity/identity_cache.hpp"
#include "identity/key_history.hpp"
#include "identity/status_lane.hpp"
#include "transport/http_client.hpp"

namespace skua::accounts {

/// Answers questions about accounts: from DID documents, and from the accounts' own hosts. Each
/// question gets one answer, on a thread of the source or on the caller's thread during the call.
class AccountSource {
 public:
  using IdentityDone = std::function<void(Result<identity::Account>)>;
  using StatusDone = std::function<void(Result<identity::HostStatus>)>;
  using KeysDone = std::function<void(Result<std::vector<atproto::Multikey>>)>;

  virtual ~AccountSource() = default;

  /// How new an identity must be. Known: a cached one will do. Recent: not older than some seconds,
  /// because a verification has just failed. Now: fetched for this question.
  enum class Freshness : std::uint8_t { Known, Recent, Now };
  using KeyUse = identity::KeyUse;

  /// The account, as its DID document describes it. Errors: those of identity::IdentityCache.
  virtual void identity(const std::string& did, Freshness freshness, IdentityDone done) = 0;
  /// Whether the accounts' own hosts can be asked. If not, the stream is the only source of hosting
  /// statuses.
  virtual bool has_hosts() const = 0;
  /// The hosting status that the account's own host states. Errors: those of
  /// identity::ask_host_status, or the reason why the host is not known.
  virtual void status(const std::string& did, StatusDone done) = 0;
  /// The keys of the account that may have signed something at a time in the past
  /// (identity::keys_near). A run that lags reads commits and labels from before a key rotation.
  /// Errors: those of identity::ask_key_history.
  virtual void keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) = 0;
  /// Why `identity` failed, for a log line: names the server that was asked, and what to do.
  virtual std::string failure_text(const std::string& did, const ErrorCode& error) const = 0;
  /// Ends active questions: each is answered with an error.
  virtual void stop() = 0;
};

/// Answers from a file of DID documents, for captures. Makes no requests.
class DocumentAccounts final : public AccountSource {
 public:
  /// Throws std::runtime_error when the file cannot be used.
  explicit DocumentAccounts(const std::filesystem::path& file);

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override;
  bool has_hosts() const override { return false; }
  void status(const std::string& did, StatusDone done) override;
  void keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) override;
  std::string failure_text(const std::string& did, const ErrorCode& error) const override;
  void stop() override {}
  const std::string& problem() const { return documents_.problem(); }

 private:
  identity::DocumentFile documents_;
};

struct NetworkAccountsOptions {
  std::string plc_url = "https://plc.directory";
  std::string ca_file;
  /// The database with `skua.identities`.
  std::string database_url;
  bool allow_private_hosts = false;
  /// Called at most once, on a thread of the source, after a fatal error: identities cannot be
  /// looked up any more. Empty: the process ends.
  std::function<void(const std::string& what)> on_defect = nullptr;
};

/// Answers from the network: the PLC directory, the hosts of did:web documents, and the accounts'
/// own hosts.
class NetworkAccounts final : public AccountSource {
 public:
  NetworkAccounts(const NetworkAccountsOptions& options, const Clock& clock);
  ~NetworkAccounts() override;

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override;
  bool has_hosts() const override { return true; }
  void status(const std::string& did, StatusDone done) override;
  void keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) override;
  std::string failure_text(const std::string& did, const ErrorCode& error) const override;
  void stop() override;

  /// See identity::IdentityCache::table_changed. Any thread.
  void table_changed(std::vector<std::string> dids) { cache_.table_changed(std::move(dids)); }

  /// Requests for documents to the PLC directory. Any thread.
  struct DirectoryFailures {
    /// Those that failed since the last answer.
    std::uint64_t count = 0;
    /// When the last of them failed.
    std::chrono::steady_clock::time_point latest;
  };
  DirectoryFailures directory_failures() const {
    return {cache_.statistics().directory_failures, cache_.statistics().directory_failed_at};
  }

 private:
  struct Histories;

  identity::StatusLane::Requests status_requests();

  const identity::DidResolverOptions resolver_options_;
  const Clock& clock_;
  // Separate clients, so that no kind of request waits behind another: for the PLC directory, for
  // did:web documents, and for StatusLane, which also fetches did:web documents.
  transport::HttpClient directory_;
  transport::HttpClient web_;
  transport::HttpClient hosts_;
  const identity::DidResolver resolver_;
  const identity::DidResolver status_resolver_;
  identity::IdentityCache cache_;
  identity::StatusLane statuses_;
  /// Recent key histories. Shared, because answers may arrive after the end.
  const std::shared_ptr<Histories> histories_;
};

}  // namespace skua::accounts
