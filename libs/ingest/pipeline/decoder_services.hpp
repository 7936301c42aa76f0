#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "accounts/account_source.hpp"
#include "pipeline/dispatch.hpp"
#include "pipeline/parked_budget.hpp"
#include "pipeline/pending_heads.hpp"
#include "pipeline/repository_lookup.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::pipeline {

class DecodeQueue;

/// The parts with which the decoders of a pipeline verify messages. They outlive the decoders.
struct VerificationServices {
  accounts::AccountSource& accounts;
  /// It is null if the messages are labels. The other members are for commits only.
  RepositoryLookup* repositories = nullptr;
  verify::Level level = verify::Level::Full;
  /// It is null if heads are not stored.
  PendingHeads* heads = nullptr;
  /// The number of repositories that all decoders together keep in memory.
  std::size_t remembered = 1'000'000;
};

/// Passes answers to a decoder. All copies pass them to the same decoder. A copy may outlive the
/// decoder, and then drops the answers. Any thread may use it.
class AnswerQueue {
 public:
  AnswerQueue() = default;
  explicit AnswerQueue(std::shared_ptr<DecodeQueue> queue) : queue_(std::move(queue)) {}

  /// Calls `take` on the decoder's thread, in the turn of the account.
  void pass(std::string_view did, std::function<void()> take) const;

 private:
  std::shared_ptr<DecodeQueue> queue_;
};

/// The parts that a decoder uses. They outlive the decoder.
struct DecoderServices {
  DispatchServices out;
  /// It is null if messages are not verified. It outlives the decoders.
  const VerificationServices* verification = nullptr;
  /// The number of decoders. Each keeps its share of the repositories in memory.
  std::size_t decoders = 1;
  /// The limits of this decoder.
  ParkedBudget::Limits parked = {};
  /// The queue of this decoder. Its DecodeThread sets it.
  AnswerQueue answers = {};
};

}  // namespace skua::pipeline
