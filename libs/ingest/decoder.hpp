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
#include "ingest/commit_processor.hpp"
#include "ingest/decode_thread.hpp"
#include "ingest/decoder_services.hpp"
#include "ingest/future_gate.hpp"
#include "ingest/in_flight.hpp"
#include "ingest/parked_budget.hpp"
#include "ingest/pending_heads.hpp"
#include "ingest/repository_lookup.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::ingest {

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
class Decoder final : public AnyDecoder {
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

  void take(AdmittedMessage& message) override;
  bool tick() override;
  std::size_t abandoned() const override;

 private:
  /// Whether a frame is done, or waits for an answer.
  enum class Step : std::uint8_t { Done, Waits };
  /// The parked frames of an account, in order: the first waits for an answer, the others for the
  /// first.
  struct Parked {
    std::deque<Job> jobs;
    std::size_t bytes = 0;
  };

  /// A job that FutureGate has passed.
  void begin(Job job);
  // The answers to the questions.
  void row_found(const store::RepositoryRow& row);
  void repository_found(FoundRepository found);
  void identity_found(const std::string& did, std::uint64_t question,
                      accounts::AccountSource::Freshness freshness,
                      const Result<identity::Account>& account);
  void status_found(const std::string& did, std::uint64_t question,
                    Result<identity::HostStatus> status);
  void former_keys_found(const std::string& did, std::uint64_t question,
                         Result<std::vector<atproto::Multikey>> keys);
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
};

}  // namespace skua::ingest
