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

/// How the decoders of a pipeline verify messages. Outlives them.
struct VerificationServices {
  accounts::AccountSource& accounts;
  /// Null: the messages are labels. The other members are for commits only.
  RepositoryLookup* repositories = nullptr;
  verify::Level level = verify::Level::Full;
  /// Null: heads are not stored.
  PendingHeads* heads = nullptr;
  /// Repositories that all decoders together keep in memory.
  std::size_t remembered = 1'000'000;
};

/// Passes answers to a decoder. Copies pass them to the same decoder, and may outlive it: then
/// nothing happens. Any thread.
class AnswerQueue {
 public:
  AnswerQueue() = default;
  explicit AnswerQueue(std::shared_ptr<DecodeQueue> queue) : queue_(std::move(queue)) {}

  /// Calls `take` on the decoder's thread, in the turn of the account.
  void pass(std::string_view did, std::function<void()> take) const;

 private:
  std::shared_ptr<DecodeQueue> queue_;
};

/// The parts that a decoder uses. They outlive it.
struct DecoderServices {
  DispatchServices out;
  /// Null: messages are not verified. Outlives the decoders.
  const VerificationServices* verification = nullptr;
  /// The number of decoders: each keeps its share of the repositories in memory.
  std::size_t decoders = 1;
  /// The limits of this decoder.
  ParkedBudget::Limits parked = {};
  /// Of this decoder; its DecodeThread sets it.
  AnswerQueue answers = {};
};

}  // namespace skua::pipeline
