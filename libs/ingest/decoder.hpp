#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>

#include "accounts/account_source.hpp"
#include "base/bounded_queue.hpp"
#include "base/bytes.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "event/unresolved_event.hpp"
#include "ingest/decode_thread.hpp"
#include "ingest/dispatch.hpp"
#include "ingest/future_gate.hpp"
#include "ingest/parked_budget.hpp"
#include "ingest/pending_heads.hpp"
#include "ingest/repository_lookup.hpp"
#include "verify/commit_verifier.hpp"
#include "verify/known_repositories.hpp"
#include "writer/in_flight.hpp"

namespace skua::ingest {

/// How frames are verified, by all decoders of a pipeline. Outlives them.
struct Verification {
  verify::Level level = verify::Level::Full;
  /// Waits for servers that fail where nothing else would do (RetryingAccounts).
  accounts::AccountSource& accounts;
  RepositoryLookup& repositories;
  /// Null: where repositories stand is not stored.
  PendingHeads* heads = nullptr;
  /// Repositories that all decoders together remember.
  std::size_t remembered = 1'000'000;
};

/// What the decoders of a pipeline share. Outlives them.
struct DecoderServices {
  DispatchServices out;
  /// Of commits; null: they are not verified. Outlives the decoders.
  const Verification* verification = nullptr;
  /// Gives the keys of labelers, and waits for servers that fail (RetryingAccounts); null: labels
  /// are not verified. Outlives the decoders.
  accounts::AccountSource* accounts = nullptr;
  /// How many decoders there are: they share out what is remembered.
  std::size_t decoders = 1;
  /// Of this decoder alone.
  ParkedBudget::Limits parked = {};
};

/// Decodes and verifies the frames of a relay. When one needs an answer from outside (a key, the
/// word of a host), it and those of its account behind it are parked until the answer is there, and
/// other accounts go on. What may be in flight at all bounds what is parked; of accounts whose own
/// host is asked ParkedBudget does. An account beyond that is given up until its host has answered:
/// its messages wait for that host no longer. What cannot be verified without it is dropped and
/// counted (parked_over_budget), and the repository waits for a resync; #account and #identity pass
/// as if the host could not be asked.
class Decoder final : public DecodeThread {
 public:
  /// A frame on its way.
  struct Job : AdmittedMessage {
    Job() = default;
    explicit Job(AdmittedMessage message) : AdmittedMessage(std::move(message)) {}

    /// The question about its account's identity or status that it waits for; 0: none.
    std::uint64_t question = 0;
    /// It waits for the account's own host.
    bool waits_for_host = false;
    /// Its account's host was to be asked for it, but the account is given up.
    bool was_given_up = false;
    // What was asked for it already.
    bool has_fresh_identity = false;
    std::optional<std::string> document_handle;  // empty: it claims none
    bool has_former_key = false;
    std::optional<atproto::Multikey> former_key;
    enum class Word : std::uint8_t { NotAsked, Unknown, Given } word = Word::NotAsked;
    identity::HostStatus host_status;
  };

  explicit Decoder(DecoderServices services);
  ~Decoder() override;

  void push(AdmittedMessage message) override;
  void close() override;
  void join() override;
  std::size_t backlog() const override { return queue_->size(); }
  std::size_t abandoned() const override { return abandoned_; }

 private:
  struct FoundRow {
    store::RepositoryRow row;
  };
  struct Identified {
    std::string did;
    std::uint64_t question = 0;
    accounts::AccountSource::Freshness freshness = accounts::AccountSource::Freshness::Known;
    Result<accounts::AccountIdentity> identity;
  };
  struct Settled {
    std::string did;
    std::uint64_t question = 0;
    Result<identity::HostStatus> status;
  };
  struct FormerlySigned {
    std::string did;
    std::uint64_t question = 0;
    Result<std::optional<atproto::Multikey>> key;
  };
  using Item = std::variant<Job, FoundRow, FoundRepository, Identified, Settled, FormerlySigned>;
  using Queue = BoundedQueue<Item>;
  /// Whether a frame is done with, or waits for an answer that was asked for.
  enum class Step : std::uint8_t { Done, Waits };
  /// The frames of an account that wait, in their order: the first for an answer, the others for
  /// the first.
  struct Parked {
    std::deque<Job> jobs;
    std::size_t bytes = 0;
  };

  void run();
  void take(Job job);
  /// A job that need not wait for our clock.
  void begin(Job job);
  void take(const FoundRow& found);
  void take(FoundRepository found);
  void take(Identified identified);
  void take(Settled settled);
  void take(FormerlySigned former);
  /// The frame that waits for the answer to this question; null: none does any more.
  Job* waiting_for(const std::string& did, std::uint64_t question);
  /// Goes on with the frames that waited behind an answer.
  void resume(const std::string& did);
  void count_parked(const std::string& did, const Parked& parked);
  /// Gives up accounts until the rest is within the budget.
  void keep_to_budget();
  void give_up(const std::string& did);
  /// Whether the account of this frame is given up, so that its host is not waited for.
  bool is_given_up(const Job& job) const;
  /// What an account was given up for was answered. False: it was not given up for this.
  bool end_given_up(const std::string& did, std::uint64_t question);

  /// Takes a frame as far as it gets.
  Step step(Job& job);
  /// The same, with whatever exceptions it makes.
  Step step_on(Job& job);
  Step step_commit(Job& job);
  Step step_account(Job& job);
  Step step_identity(Job& job);
  /// An account that was never seen before: its handle comes with its first commit, not only when
  /// it changes.
  void introduce(const Job& job);
  /// The repository that a frame is about; null: it was asked for.
  verify::KnownRepository* repository_of(const Job& job);
  Step find_repository(const Job& job);
  /// The frame waits for its account's identity as it is now.
  Step refresh_identity(Job& job, accounts::AccountSource::Freshness freshness);
  Step ask_host(Job& job);
  Step ask_former_key(Job& job);
  void ask_identity(const Job& job, std::uint64_t question,
                    accounts::AccountSource::Freshness freshness);
  /// What a repository stands at from this frame on is to be stored.
  void log(const Job& job, const verify::KnownRepository& repository,
           verify::Continuity continuity);

  /// `is_first`: nothing of its account was seen before.
  void dispatch(const Job& job, bool is_first = false);
  void drop(const Job& job, verify::errc reason);
  /// Drops what cannot be verified because its account is given up.
  void drop_unverified(const Job& job);
  void finish(const Job& job);
  void reject(Job& job, const std::string& error);

  DecoderServices services_;
  const std::shared_ptr<Queue> queue_;  // answers may come after the end
  FutureGate gate_;
  event::FrameDecoder decoder_;
  event::DecodedFrame decoded_;
  verify::CommitVerifier verifier_;
  verify::KnownRepositories known_;
  /// Of the frame at hand.
  filter::CurrentFilter::Snapshot filter_;
  std::unordered_map<std::string, Parked, SeededHash> parked_;
  ParkedBudget budget_;
  /// Accounts that are given up, and the question whose answer ends that; kLookup: where the
  /// repository stands.
  std::unordered_map<std::string, std::uint64_t, SeededHash> given_up_;
  static constexpr std::uint64_t kLookup = 0;
  std::uint64_t questions_ = 0;
  std::size_t abandoned_ = 0;
  std::thread thread_;
};

}  // namespace skua::ingest
