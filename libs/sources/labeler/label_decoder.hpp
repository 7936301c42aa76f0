#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "accounts/account_source.hpp"
#include "atproto/signing.hpp"
#include "base/bounded_queue.hpp"
#include "base/generational_map.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "event/label_frame.hpp"
#include "ingest/decode_thread.hpp"
#include "ingest/dispatch.hpp"
#include "verify/errc.hpp"

namespace skua::sources {

/// Decodes a labeler's frames, and verifies that each label is signed by the labeler in whose name
/// it speaks. A stream is one labeler's, as a rule: while its key is asked for, all of it waits.
class LabelDecoder final : public ingest::DecodeThread {
 public:
  /// `accounts`, which outlives it, waits for servers that fail (RetryingAccounts); null: nothing
  /// is verified.
  LabelDecoder(ingest::DispatchServices services, accounts::AccountSource* accounts);
  ~LabelDecoder() override;

  void push(ingest::AdmittedMessage message) override;
  void close() override;
  void join() override;
  /// One key holds all of them up.
  std::size_t backlog() const override { return 0; }
  std::size_t abandoned() const override { return abandoned_; }

 private:
  /// A labeler's key as it was known last; nothing: it has none that can be used.
  struct KnownKey {
    std::optional<atproto::Multikey> key;
    Timestamp asked_at;
  };
  /// Shared with answers that may come after the end.
  struct Answers {
    std::mutex mutex;
    std::condition_variable changed;
    bool closed = false;
  };
  /// Waits for what `ask` asks for; nothing: the decoder was closed meanwhile.
  template <class Answer, class Ask>
  std::optional<Result<Answer>> answer_to(Ask&& ask);

  void run();
  /// False: it waits for an answer that does not come any more.
  bool take(ingest::AdmittedMessage& message);
  bool take_labels(const ingest::AdmittedMessage& message);

  /// What became of a signature's check.
  enum class Verdict : std::uint8_t { Good, Dropped, Abandoned };
  /// `reason` is that of Dropped.
  Verdict check(const event::LabelEntry& entry, verify::errc& reason);
  bool is_signed_by(const std::optional<atproto::Multikey>& key, ByteView message,
                    ByteView signature);
  /// The labeler's key, asked for when it is not known or not `fresh` enough. Nothing: abandoned.
  std::optional<KnownKey> key_of(const std::string& src,
                                 accounts::AccountSource::Freshness freshness);

  const ingest::DispatchServices services_;
  accounts::AccountSource* const accounts_;
  BoundedQueue<ingest::AdmittedMessage> queue_;
  const std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  event::LabelFrameDecoder decoder_;
  event::DecodedLabelFrame frame_;
  GenerationalMap<std::string, KnownKey, SeededHash> keys_;
  /// The key that was parsed last: parsing costs a sixth of a check.
  std::optional<std::pair<atproto::Multikey, atproto::VerifyingKey>> parsed_;
  std::size_t abandoned_ = 0;
  std::thread thread_;
};

}  // namespace skua::sources
