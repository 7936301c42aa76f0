#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "identity/document_file.hpp"
#include "identity/host_status.hpp"
#include "identity/identity_cache.hpp"
#include "identity/key_history.hpp"
#include "identity/status_lane.hpp"
#include "transport/http_client.hpp"

namespace skua::accounts {

/// Who signs for an account, and where it lives.
struct AccountIdentity {
  atproto::Multikey key;
  /// The handle that its document claims; empty: none.
  std::string handle;
  /// The origin of its PDS; empty: not known.
  std::string pds = {};
  /// What it signs labels with; nothing: it is no labeler.
  std::optional<atproto::Multikey> label_key = {};
};

/// Where what a stream says of accounts is checked: DID documents, and the accounts' own hosts.
/// Answers come once each, on a thread of the source, or at once on the caller's.
class AccountSource {
 public:
  using IdentityDone = std::function<void(Result<AccountIdentity>)>;
  using StatusDone = std::function<void(Result<identity::HostStatus>)>;
  using KeyDone = std::function<void(Result<std::optional<atproto::Multikey>>)>;

  virtual ~AccountSource() = default;

  /// How new an identity must be: as it is known, not from before a failure that just happened (one
  /// look in some seconds is enough), or as it is now.
  enum class Freshness : std::uint8_t { Known, Recent, Now };
  using KeyUse = identity::KeyUse;

  /// The account's identity. Errors: those of identity::IdentityCache.
  virtual void identity(const std::string& did, Freshness freshness, IdentityDone done) = 0;
  /// Whether accounts' own hosts can be asked at all: if not, what the stream says of an account's
  /// status is all there is.
  virtual bool has_hosts() const = 0;
  /// What the account's own host says of it. Errors: those of identity::ask_host_status, or why the
  /// host is not known.
  virtual void status(const std::string& did, StatusDone done) = 0;
  /// The key that signed for the account at a moment in the past: who is behind the stream meets
  /// commits, or a labeler's labels, from before a key was changed. Errors: those of
  /// identity::ask_key_history.
  virtual void key_at(const std::string& did, Timestamp time, KeyUse use, KeyDone done) = 0;
  /// Why `identity` failed, for people: names the host that was asked, and what to do.
  virtual std::string failure_text(const std::string& did, const ErrorCode& error) const = 0;
  /// Ends what is under way: each is answered with an error.
  virtual void stop() = 0;
};

/// A file of DID documents, for captures: nobody is asked for anything else.
class DocumentAccounts final : public AccountSource {
 public:
  /// Throws std::runtime_error when the file cannot be used.
  explicit DocumentAccounts(const std::filesystem::path& file);

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override;
  bool has_hosts() const override { return false; }
  void status(const std::string& did, StatusDone done) override;
  void key_at(const std::string& did, Timestamp time, KeyUse use, KeyDone done) override;
  std::string failure_text(const std::string& did, const ErrorCode& error) const override;
  void stop() override {}
  const std::string& problem() const { return documents_.problem(); }

 private:
  identity::DocumentFile documents_;
};

struct NetworkAccountsOptions {
  std::string plc_url = "https://plc.directory";
  std::string ca_file;
  /// Where `skua.identities` lies.
  std::string database_url;
  bool allow_private_hosts = false;
  /// Called at most once, on a thread of the source, when no identities can be looked up any more.
  /// Empty: the process ends.
  std::function<void(const std::string& what)> on_defect = nullptr;
};

/// The network: the PLC directory, the hosts of did:web accounts, the accounts' own hosts.
class NetworkAccounts final : public AccountSource {
 public:
  NetworkAccounts(const NetworkAccountsOptions& options, const Clock& clock);
  ~NetworkAccounts() override;

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override;
  bool has_hosts() const override { return true; }
  void status(const std::string& did, StatusDone done) override;
  void key_at(const std::string& did, Timestamp time, KeyUse use, KeyDone done) override;
  std::string failure_text(const std::string& did, const ErrorCode& error) const override;
  void stop() override;

 private:
  struct Histories;

  identity::StatusLane::Requests status_requests();

  const identity::DidResolverOptions resolver_options_;
  const Clock& clock_;
  // One each, so that none waits behind the others: the PLC directory, the hosts of did:web
  // documents, and what StatusLane asks for, documents of did:web included.
  transport::HttpClient directory_;
  transport::HttpClient web_;
  transport::HttpClient hosts_;
  const identity::DidResolver resolver_;
  const identity::DidResolver status_resolver_;
  identity::IdentityCache cache_;
  identity::StatusLane statuses_;
  /// Those asked for lately; answers may come after the end.
  const std::shared_ptr<Histories> histories_;
};

}  // namespace skua::accounts
