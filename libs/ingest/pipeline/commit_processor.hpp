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
  /// The account's document was fetched for this message.
  bool has_fresh_identity = false;
  /// A question was not asked, because the account no longer waits for its host.
  bool skipped_host = false;
  /// The document was not found because the DID is tombstoned.
  bool is_tombstoned = false;
  /// The handle in the account's document; nothing: it was not fetched; empty: it names none.
  std::optional<std::string> document_handle;
  bool has_former_keys = false;
  /// The keys around the time of the commit, from the account's directory.
  std::vector<atproto::Multikey> former_keys;
  bool asked_host = false;
  /// The hosting status that the account's host reports; nothing: it did not answer.
  std::optional<documents::HostStatus> host_status;
};

/// Decides what becomes of the messages of repositories: #commit, #sync, #account and #identity
/// (atproto.com/specs/sync, "Firehose validation"). A state machine without threads, sockets or
/// database: when it needs an answer it returns the question, and the caller processes the same
/// decoded message again with the answer. It remembers the state of repositories and the keys of
/// accounts. The decoders of a stream drive it, and `skua inspect`. One thread.
class CommitProcessor {
 public:
  struct Options {
    /// Nothing: messages are accepted without verification. Only revisions in the future are
    /// dropped.
    std::optional<verify::Level> level = verify::Level::Full;
    /// The number of repositories that it remembers.
    std::size_t remembered = 1'000'000;
    /// Whether hosts and the directory of former keys can be asked.
    bool has_hosts = true;
  };

  /// The message needs an answer.
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
  /// The message has no effect.
  struct Drop {
    verify::errc reason{};
    /// The repository is desynchronized: it has changed, or may have changed. Either the signature
    /// is right and the message does not describe the change, or the message could not be verified
    /// because the account's host does not answer.
    bool is_gap = false;
  };
  /// An #account message that the account's host contradicts.
  struct Stale {};
  /// The events of the message count.
  struct Accept {
    /// The state of its repository now; nothing: it did not change.
    std::optional<tables::RepositoryRow> repository;
    verify::Continuity continuity = verify::Continuity::Next;
    /// The first commit of its repository: its handle (Answers::document_handle) is to be stored.
    bool is_first = false;
    /// A commit or sync whose signature was verified.
    bool is_verified = false;
    /// By a key that the account no longer has.
    bool has_former_key = false;
    /// An #account message without the answer of the account's host.
    bool is_unsettled = false;
    /// Its repository is desynchronized, because a resync gets what the message lacks: the answer
    /// of the host about an account of which records may be stored, or a record of a commit.
    bool wants_resync = false;
    /// The account is hidden, and its host says that it is active: the message that said so is
    /// missing.
    bool is_active_again = false;
    /// The key is so old that it should be refreshed, while the stream continues.
    bool wants_key = false;
  };
  using Outcome = std::variant<Ask, Drop, Stale, Accept>;

  explicit CommitProcessor(Options options);

  /// Processes a message that FrameDecoder has decoded; other types than the four are accepted. It
  /// changes the events of #account and #identity messages by the answers. `skips_host`: the
  /// account no longer waits for its host. After an Ask the caller adds the answer and repeats the
  /// call with the same message.
  Outcome process(event::DecodedFrame& message, Answers& answers, bool skips_host, Timestamp now);

  /// The stored state of a repository, unless it is known already.
  void set_repository(const tables::RepositoryRow& row);
  /// The key of an account as of `now`; nothing: its document is of no use.
  void set_key(std::string_view did, const std::optional<atproto::Multikey>& key, Timestamp now);
  /// The answer to a question for the identity of an account.
  void set_identity(std::string_view did, const Result<documents::Account>& account,
                    accounts::AccountSource::Freshness freshness, Timestamp now);

 private:
  Outcome process_commit(event::DecodedFrame& message, Answers& answers, bool skips_host,
                         Timestamp now);
  Outcome process_account(event::DecodedFrame& message, const Answers& answers, bool skips_host);
  Outcome process_identity(event::DecodedFrame& message, Answers& answers, bool skips_host);
  /// An #identity message about a DID that is tombstoned: the account counts as deleted.
  Outcome process_tombstone(event::DecodedFrame& message);
  static Outcome process_unverified(event::DecodedFrame& message, Timestamp now);
  verify::KnownRepository* repository_of(std::string_view did);

  const Options options_;
  verify::CommitVerifier verifier_;
  verify::KnownRepositories known_;
};

}  // namespace skua::pipeline
