#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "accounts/account_source.hpp"
#include "atproto/signing.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "documents/host_status.hpp"
#include "event/frame_decoder.hpp"
#include "tables/repository_table.hpp"
#include "verify/commit_verifier.hpp"
#include "verify/errc.hpp"
#include "verify/known_repositories.hpp"

namespace skua::pipeline {

/// The answers that a message has received so far.
struct Answers {
  /// Whether the account's document was fetched for this message.
  bool has_fresh_identity = false;
  /// Whether a question was not asked, because the account no longer waits for its host.
  bool skipped_host = false;
  /// Whether the document was not found because the DID is tombstoned.
  bool is_tombstoned = false;
  /// The handle in the account's document. It is nothing if the document was not fetched, and empty
  /// if the document names no handle.
  std::optional<std::string> document_handle;
  bool has_former_keys = false;
  /// The keys around the time of the commit, from the account's directory.
  std::vector<atproto::Multikey> former_keys;
  bool asked_host = false;
  /// The hosting status that the account's host reports, or nothing if the host did not answer.
  std::optional<documents::HostStatus> host_status;
};

/// Decides the outcome of the messages of repositories: #commit, #sync, #account and #identity
/// (atproto.com/specs/sync, "Firehose validation"). It is a state machine without threads, sockets
/// or database: when it needs an answer it returns the question, and the caller processes the same
/// decoded message again with the answer. It remembers the state of repositories and the keys of
/// accounts. The decoders of a stream and `skua inspect` drive it. One thread uses it.
class CommitProcessor {
 public:
  struct Options {
    /// The level of verification. Nothing means that messages are accepted without verification,
    /// and only revisions in the future are dropped.
    std::optional<verify::Level> level = verify::Level::Full;
    /// The number of repositories that the processor remembers.
    std::size_t remembered = 1'000'000;
    /// Whether hosts and the directory of former keys can be asked.
    bool has_hosts = true;
  };

  /// The outcome of a message that needs an answer.
  struct Ask {
    enum class What : std::uint8_t {
      Repository,  // its stored state, and the key of its account: `set_repository`, `set_key`
      Identity,    // the identity of the account as of `freshness`: `set_identity`
      HostStatus,  // Answers::host_status
      FormerKeys,  // Answers::former_keys
    };
    What what = What::Repository;
    accounts::AccountSource::Freshness freshness = accounts::AccountSource::Freshness::Known;
  };
  /// The outcome of a message without effect.
  struct Drop {
    verify::errc reason{};
    /// Whether the repository is desynchronized, because it has changed, or may have changed.
    /// Either the signature is right and the message does not describe the change, or the message
    /// could not be verified because the account's host does not answer.
    bool is_gap = false;
  };
  /// The outcome of an #account message that the account's host contradicts.
  struct Stale {};
  /// The outcome of a message whose events count.
  struct Accept {
    /// The new state of the repository, or nothing if it did not change.
    std::optional<tables::RepositoryRow> repository;
    verify::Continuity continuity = verify::Continuity::Next;
    /// Whether this is the first commit of the repository. The handle of its account
    /// (Answers::document_handle) must then be stored.
    bool is_first = false;
    /// Whether the message is a commit or sync whose signature was verified.
    bool is_verified = false;
    /// Whether the signature is by a key that the account no longer has.
    bool has_former_key = false;
    /// Whether the message is an #account message without the answer of the account's host.
    bool is_unsettled = false;
    /// Whether the repository is desynchronized, because the message lacks a part that a resync
    /// gets. The part is a record of a commit, or the answer of the host about an account of which
    /// records may be stored.
    bool wants_resync = false;
    /// Whether the account is hidden and its host says that it is active. The message that said so
    /// is missing.
    bool is_active_again = false;
    /// Whether the key is so old that it should be refreshed while the stream continues.
    bool wants_key = false;
  };
  using Outcome = std::variant<Ask, Drop, Stale, Accept>;

  explicit CommitProcessor(Options options);

  /// Processes a message that FrameDecoder has decoded. Types other than the four are accepted. It
  /// changes the events of #account and #identity messages according to the answers. `skips_host`
  /// tells that the account no longer waits for its host. After an Ask the caller adds the answer
  /// and repeats the call with the same message.
  Outcome process(event::DecodedFrame& message, Answers& answers, bool skips_host, Timestamp now);

  /// Sets the stored state of a repository, unless the state is known already.
  void set_repository(const tables::RepositoryRow& row);
  /// Sets the key of an account as of `now`. Nothing means that its document has no usable key.
  void set_key(std::string_view did, const std::optional<atproto::Multikey>& key, Timestamp now);
  /// Sets the answer to a question for the identity of an account.
  void set_identity(std::string_view did, const Result<documents::Account>& account,
                    accounts::AccountSource::Freshness freshness, Timestamp now);

 private:
  Outcome process_commit(event::DecodedFrame& message, Answers& answers, bool skips_host,
                         Timestamp now);
  Outcome process_account(event::DecodedFrame& message, const Answers& answers, bool skips_host);
  Outcome process_identity(event::DecodedFrame& message, Answers& answers, bool skips_host);
  /// Processes an #identity message about a DID that is tombstoned. The account then counts as
  /// deleted.
  Outcome process_tombstone(event::DecodedFrame& message);
  static Outcome process_unverified(event::DecodedFrame& message, Timestamp now);
  verify::KnownRepository* repository_of(std::string_view did);

  const Options options_;
  verify::CommitVerifier verifier_;
  verify::KnownRepositories known_;
};

}  // namespace skua::pipeline
