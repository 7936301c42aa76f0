#include "pipeline/decode_thread.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fair_queue.hpp"
#include "base/seeded_hash.hpp"
#include "pipeline/decode_guard.hpp"
#include "pipeline/future_gate.hpp"

namespace skua::pipeline {

/// A message or an answer, and the hash of the account whose turn it uses.
struct DecodeItem {
  using Answer = std::function<void()>;

  std::uint64_t account = 0;
  std::variant<AdmittedMessage, Answer> content;

  static std::uint64_t key(const DecodeItem& item) { return item.account; }
  static std::size_t weight(const DecodeItem&) { return 1; }
  static std::size_t cost(const DecodeItem&) { return 0; }
};

class DecodeQueue : public FairQueue<DecodeItem, DecodeItem> {};

void AnswerQueue::pass(std::string_view did, std::function<void()> take) const {
  queue_->push({seeded_hash(did), std::move(take)});
}

DecodeThread::DecodeThread(DecoderServices services, const MakeDecoder& make)
    : services_(services.out),
      queue_(std::make_shared<DecodeQueue>()),
      decoder_([&] {
        services.answers = AnswerQueue(queue_);
        return make(std::move(services));
      }()),
      thread_([this] { run(); }) {}

DecodeThread::~DecodeThread() {
  close();
  join();
}

void DecodeThread::push(AdmittedMessage message) {
  const std::uint64_t account = seeded_hash(message.did);
  queue_->push({account, std::move(message)});
}

void DecodeThread::close() {
  queue_->close();
  decoder_->close();
}

void DecodeThread::join() {
  if (thread_.joinable()) thread_.join();
}

std::size_t DecodeThread::backlog() const {
  return decoder_->waits_in_place() ? 0 : queue_->size();
}

void DecodeThread::run() {
  constexpr std::chrono::milliseconds kIdle{60'000};
  std::vector<DecodeItem> items;
  bool is_ticking = false;
  try {
    while (true) {
      items.clear();
      queue_->pop_some(items, {1}, {}, is_ticking ? FutureGate::kTick : kIdle);
      if (items.empty() && queue_->closed() && queue_->size() == 0) return;
      for (DecodeItem& item : items) {
        if (auto* message = std::get_if<AdmittedMessage>(&item.content)) {
          guard_message(services_, *message, [&] { decoder_->take(*message); });
        } else {
          std::get<DecodeItem::Answer>(item.content)();
        }
      }
      is_ticking = decoder_->tick();
    }
  } catch (const std::exception& error) {
    services_.runtime.fatal(std::string("messages cannot be decoded: ") + error.what());
  }
}

}  // namespace skua::pipeline
