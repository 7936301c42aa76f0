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
#include "base/fair_queue.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "ingest/commit_processor.hpp"
#include "ingest/decode_thread.hpp"
#include "ingest/dispatch.hpp"
#include "ingest/future_gate.hpp"
#include "ingest/in_flight.hpp"
#include "ingest/parked_budget.hpp"
#include "ingest/pending_heads.hpp"
#include "ingest/repository_lookup.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::ingest {

/// How the decoders of a pipeline verify messages. Outlives them.
struct Verification {
  accounts::AccountSource& accounts;
  /// Null: the messages are labels. The other members are for commits only.
  RepositoryLookup* repositories = nullptr;
  verify::Level level = verify::Level::Full;
  /// Null: heads are not stored.
  PendingHeads* heads = nullptr;
  /// Repositories that all decoders together keep in memory.
  std::size_t remembered = 1'000'000;
};

/// The parts that a decoder uses. They outlive it.
struct DecoderServices {
  DispatchServices out;
  /// Null: messages are not verified. Outlives the decoders.
  const Verification* verification = nullptr;
  /// The number of decoders: each keeps its share of the repositories in memory.
  std::size_t decoders = 1;
  /// The limits of this decoder.
  ParkedBudget::Limits parked = {};
};

/// Decodes and verifies the frames of a relay. CommitProcessor decides; the decoder asks its
/// questions for a key, a head or a hosting status. The frame that needs the answer, and later
/// frames of its account, are parked until the answer comes; other accounts continue. A frame is
/// decoded once.
///
/// The in-flight list bounds the parked frames. ParkedBudget bounds those that wait for the
/// account's own host. An account beyond that budget no longer waits for its host, until the host
/// has answered. Commits that cannot be verified without the host are dropped and counted
/// (parked_over_budget), and the repository waits for a resync. #account and #identity messages
/// pass as if the host could not be asked.
class Decoder final : public DecodeThread {
 public:
  /// A frame that is being decoded or is parked.
  struct Job : AdmittedMessage {
    Job() = default;
    explicit Job(AdmittedMessage message) : AdmittedMessage(std::move(message)) {}

    /// The number of the question that it waits for; 0: it waits for a head, or for nothing.
    std::uint64_t question = 0;
    /// It waits for the host of its account.
    bool waits_for_host = false;
    /// The decoded frame, after it waited; null: it did not wait yet.
    std::unique_ptr<event::DecodedFrame> decoded;
    Answers answers;
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
    Result<identity::Account> account;
  };
  struct Settled {
    std::string did;
    std::uint64_t question = 0;
    Result<identity::HostStatus> status;
  };
  struct FormerlySigned {
    std::string did;
    std::uint64_t question = 0;
    Result<std::vector<atproto::Multikey>> keys;
  };
  using Item = std::variant<Job, FoundRow, FoundRepository, Identified, Settled, FormerlySigned>;
  /// Accounts take turns.
  struct Traits {
    static std::uint64_t key(const Item& item);
    static std::size_t weight(const Item&) { return 1; }
    static std::size_t cost(const Item&) { return 0; }
  };
  using Queue = FairQueue<Item, Traits>;
  /// Whether a frame is done, or waits for an answer.
  enum class Step : std::uint8_t { Done, Waits };
  /// The parked frames of an account, in order: the first waits for an answer, the others for the
  /// first.
  struct Parked {
    std::deque<Job> jobs;
    std::size_t bytes = 0;
  };

  void run();
  void take(Job job);
  /// A job that FutureGate has passed.
  void begin(Job job);
  void take(const FoundRow& found);
  void take(FoundRepository found);
  void take(Identified identified);
  void take(Settled settled);
  void take(FormerlySigned former);
  /// The frame that waits for the answer to this question; null: none.
  Job* waiting_for(const std::string& did, std::uint64_t question);
  /// Continues with the parked frames of an account.
  void resume(const std::string& did);
  /// Whether the message has replaced the last parked one of its account. Both are #identity
  /// messages, which only mean that the document may have changed.
  bool replaces_last(Parked& parked, Job& job);
  void count_parked(const std::string& did, const Parked& parked);
  /// Ends the wait of accounts until the others are within the budget.
  void keep_to_budget();
  /// The account no longer waits for its host.
  void skip_host(const std::string& did);
  bool skips_host(const Job& job) const;
  /// The question that the account no longer waits for was answered. False: it was another one.
  bool end_skip(const std::string& did, std::uint64_t question);

  /// Processes a frame until it is done or needs an answer.
  Step step(Job& job);
  /// The same; may throw.
  Step decode_and_process(Job& job);
  Step process(Job& job, event::DecodedFrame& message);

  /// Asks the question that the frame waits for.
  void ask(Job& job, const CommitProcessor::Ask& question);
  void find_repository(const Job& job);
  void ask_identity(const Job& job, std::uint64_t question,
                    accounts::AccountSource::Freshness freshness);
  void ask_host(const Job& job);
  void ask_former_keys(const Job& job);

  void accept(const Job& job, event::DecodedFrame& message,
              const CommitProcessor::Accept& accepted);
  void drop(const Job& job, const event::DecodedFrame& message,
            const CommitProcessor::Drop& dropped);
  void drop_stale(const Job& job, const event::DecodedFrame& message);

  DecoderServices services_;
  const std::shared_ptr<Queue> queue_;  // shared: answers may arrive after the end
  FutureGate gate_;
  event::FrameDecoder decoder_;
  event::DecodedFrame decoded_;
  CommitProcessor processor_;
  /// For the current frame.
  filter::CurrentFilter::Snapshot filter_;
  std::unordered_map<std::string, Parked, SeededHash> parked_;
  ParkedBudget budget_;
  /// Accounts that no longer wait for their host, and the question whose answer ends that; kLookup:
  /// the look-up of the repository.
  std::unordered_map<std::string, std::uint64_t, SeededHash> skipped_hosts_;
  static constexpr std::uint64_t kLookup = 0;
  std::uint64_t questions_ = 0;
  std::size_t abandoned_ = 0;
  std::thread thread_;
};

}  // namespace skua::ingest
