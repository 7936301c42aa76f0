#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accounts/account_source.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "pipeline/commit_processor.hpp"
#include "pipeline/decode_thread.hpp"
#include "pipeline/decoder_services.hpp"
#include "pipeline/future_gate.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/parked_budget.hpp"
#include "pipeline/pending_heads.hpp"
#include "pipeline/repository_lookup.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::pipeline {

/// Decodes and verifies the frames of a relay. CommitProcessor decides, and the decoder asks its
/// questions for a key, a head or a hosting status. The frame that needs the answer, and later
/// frames of its account, are parked until the answer comes. Other accounts continue. A frame is
/// decoded once.
///
/// The in-flight list bounds the parked frames. ParkedBudget bounds the frames that wait for the
/// account's own host. An account beyond that budget no longer waits for its host, until the host
/// has answered. Commits that cannot be verified without the host are dropped and counted
/// (parked_over_budget), and the repository waits for a resync. #account and #identity messages
/// pass as if the host could not be asked.
class Decoder final : public AnyDecoder {
 public:
  /// The number of a question. An answer names the number, so that it only continues the frame that
  /// waits for it. All look-ups of a repository have the number kLookup, and every other question
  /// has a number of its own. kNoQuestion means that no frame waits.
  using Question = std::uint64_t;
  static constexpr Question kNoQuestion = 0;
  static constexpr Question kLookup = 1;

  /// A frame that is being decoded or is parked.
  struct PendingFrame : AdmittedMessage {
    PendingFrame() = default;
    explicit PendingFrame(AdmittedMessage message) : AdmittedMessage(std::move(message)) {}

    /// The question that the frame waits for.
    Question question = kNoQuestion;
    /// Whether the frame waits for the host of its account.
    bool waits_for_host = false;
    /// The decoded frame, after it has waited. It is null if the frame has not waited yet.
    std::unique_ptr<event::DecodedFrame> decoded;
    Answers answers;
  };

  explicit Decoder(DecoderServices services);

  void take(AdmittedMessage& message) override;
  bool tick() override;
  std::size_t abandoned() const override;

 private:
  /// Whether a frame is done, or waits for an answer.
  enum class Step : std::uint8_t { Done, Waits };
  /// The parked frames of an account, in order. The first frame waits for an answer, and the others
  /// wait for the first.
  struct Parked {
    std::deque<PendingFrame> frames;
    std::size_t bytes = 0;
  };

  /// Begins with a frame that FutureGate has passed.
  void begin(PendingFrame frame);
  // These functions take the answers to the questions.
  void row_found(const tables::RepositoryRow& row);
  void repository_found(FoundRepository found);
  void identity_found(const std::string& did, Question question,
                      accounts::AccountSource::Freshness freshness,
                      const Result<documents::Account>& account);
  void status_found(const std::string& did, Question question,
                    Result<documents::HostStatus> status);
  void former_keys_found(const std::string& did, Question question,
                         Result<std::vector<atproto::Multikey>> keys);
  /// Returns the frame that waits for the answer to this question, or null if there is none.
  PendingFrame* waiting_for(const std::string& did, Question question);
  /// Continues to process the parked frames of an account.
  void resume(const std::string& did);
  /// Replaces the last parked message of the account by this one, if both are #identity messages,
  /// which only mean that the document may have changed. Returns whether it did so.
  bool replaces_last(Parked& parked, PendingFrame& frame);
  void count_parked(const std::string& did, const Parked& parked);
  /// Ends the wait of accounts until the remaining accounts are within the budget.
  void keep_to_budget();
  /// Ends the wait of an account for its host.
  void skip_host(const std::string& did);
  bool skips_host(const PendingFrame& frame) const;
  /// Reports that a question was answered. If the account no longer waits for the answer to this
  /// question, the account may wait for its host again. Returns false if it was another question.
  bool end_skip(const std::string& did, Question question);

  /// Processes a frame until it is done or needs an answer.
  Step step(PendingFrame& frame);
  /// Does the same as `step`, but may throw.
  Step decode_and_process(PendingFrame& frame);
  Step process(PendingFrame& frame, event::DecodedFrame& message);

  /// Asks the question that the frame waits for.
  void ask(PendingFrame& frame, const CommitProcessor::Ask& question);
  void find_repository(const PendingFrame& frame);
  void ask_identity(const PendingFrame& frame, Question question,
                    accounts::AccountSource::Freshness freshness);
  void ask_host(const PendingFrame& frame);
  void ask_former_keys(const PendingFrame& frame);

  void accept(const PendingFrame& frame, event::DecodedFrame& message,
              const CommitProcessor::Accept& accepted);
  void drop(const PendingFrame& frame, const event::DecodedFrame& message,
            const CommitProcessor::Drop& dropped);
  void drop_stale(const PendingFrame& frame, const event::DecodedFrame& message);

  DecoderServices services_;
  FutureGate gate_;
  event::FrameDecoder decoder_;
  event::DecodedFrame decoded_;
  CommitProcessor processor_;
  /// The filter for the current frame.
  filter::CurrentFilter::Snapshot filter_;
  std::unordered_map<std::string, Parked, SeededHash> parked_;
  ParkedBudget budget_;
  /// The accounts that no longer wait for their host, with the question whose answer ends this
  /// state.
  std::unordered_map<std::string, Question, SeededHash> skipped_hosts_;
  /// The last number that a question got.
  Question last_question_ = kLookup;
};

/// The parts of a pipeline's verification that ask the database and the network. They outlive the
/// pipeline.
class CommitVerification {
 public:
  /// Makes the verification of labels. `source` must outlive it.
  explicit CommitVerification(accounts::AccountSource& source)
      : accounts_(source), verification_{.accounts = accounts_} {}
  /// Makes the verification of commits. `source` and `heads` must outlive it. RepositoryLookup
  /// describes `heads`.
  CommitVerification(postgres::Runtime& runtime, accounts::AccountSource& source,
                     PendingHeads* heads, verify::Level level)
      : accounts_(source),
        repositories_(std::in_place, runtime, accounts_, heads),
        verification_{.accounts = accounts_,
                      .repositories = &*repositories_,
                      .level = level,
                      .heads = heads} {}
  ~CommitVerification() { stop(); }
  CommitVerification(const CommitVerification&) = delete;
  CommitVerification& operator=(const CommitVerification&) = delete;

  const VerificationServices& verification() const { return verification_; }

  /// Ends active questions, and stops the AccountSource. Idempotent.
  void stop() {
    accounts_.stop();
    if (repositories_) repositories_->stop();
  }

 private:
  accounts::AccountSource& accounts_;
  /// It is nothing for labels.
  std::optional<RepositoryLookup> repositories_;
  const VerificationServices verification_;
};

}  // namespace skua::pipeline
