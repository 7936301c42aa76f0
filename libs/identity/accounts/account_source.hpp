#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "documents/did_document.hpp"
#include "documents/document_file.hpp"
#include "documents/host_status.hpp"
#include "documents/key_history.hpp"

namespace skua::accounts {

/// Answers questions about accounts, from DID documents and from the accounts' own hosts. Each
/// `done` is called once, on a thread of the source or on the caller's thread during the call, and
/// not after `stop`.
class AccountSource {
 public:
  using IdentityDone = std::function<void(Result<documents::Account>)>;
  using StatusDone = std::function<void(Result<documents::HostStatus>)>;
  using KeysDone = std::function<void(Result<std::vector<atproto::Multikey>>)>;

  virtual ~AccountSource() = default;

  /// The required age of an identity. Known: a cached identity is enough. Recent: not older than
  /// some seconds, because a verification has just failed. Now: fetched for this question.
  enum class Freshness : std::uint8_t { Known, Recent, Now };
  using KeyUse = documents::KeyUse;

  /// Asks for the account as its DID document describes it. While a server fails, questions with
  /// Known and Recent are repeated. For did:plc there is no limit, because a commit that cannot be
  /// verified yet must not be lost. For did:web the limit is three times, because the host may
  /// never answer. A question that waits at a stop gets no answer. Questions with Now beyond the
  /// account's share wait. Errors: those of documents::document_url and documents::read_document,
  /// busy, stopped.
  virtual void identity(const std::string& did, Freshness freshness, IdentityDone done) = 0;
  /// Asks like `identity`, but the question is not repeated while a server fails.
  virtual void identity_once(const std::string& did, Freshness freshness, IdentityDone done) = 0;
  /// Whether the accounts' own hosts can be asked. Otherwise the stream is the only source of
  /// hosting statuses.
  virtual bool has_hosts() const = 0;
  /// Asks for the hosting status that the account's own host states. Errors: those of
  /// documents::read_host_status, or the reason why the host is not known.
  virtual void status(const std::string& did, StatusDone done) = 0;
  /// Asks for the keys of the account that may have signed something at a time in the past
  /// (documents::keys_near). A run that lags reads commits and labels from before a key rotation.
  /// The question is repeated as in `identity`. Errors: those of documents::read_key_history,
  /// did_method.
  virtual void keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) = 0;
  /// Explains a failure of `identity` for a log line. The text names the server that was asked, and
  /// the action of the operator.
  virtual std::string failure_text(const std::string& did, const ErrorCode& error) const = 0;
  /// Ends active questions. Questions of `identity_once` and `status`, and questions with Now, get
  /// an error.
  virtual void stop() = 0;
};

/// Answers from a file of DID documents, for captures. Makes no requests.
class DocumentAccounts final : public AccountSource {
 public:
  /// Throws std::runtime_error if the file cannot be used.
  explicit DocumentAccounts(const std::filesystem::path& file);

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override;
  void identity_once(const std::string& did, Freshness freshness, IdentityDone done) override {
    identity(did, freshness, std::move(done));
  }
  bool has_hosts() const override { return false; }
  void status(const std::string& did, StatusDone done) override;
  void keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) override;
  std::string failure_text(const std::string& did, const ErrorCode& error) const override;
  void stop() override {}
  const std::string& problem() const { return documents_.problem(); }

 private:
  documents::DocumentFile documents_;
};

}  // namespace skua::accounts
