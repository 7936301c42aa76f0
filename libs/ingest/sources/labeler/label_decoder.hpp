#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "accounts/account_source.hpp"
#include "atproto/signing.hpp"
#include "base/generational_map.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "event/label_frame.hpp"
#include "pipeline/decode_thread.hpp"
#include "pipeline/dispatch.hpp"
#include "verify/errc.hpp"

namespace skua::sources {

/// The limits of a labeler that was discovered. They are necessary because any account can publish
/// a labeler.
struct LabelLimits {
  /// Returns whether the labeler may send labels of this account (`src`). Other labels are dropped
  /// and counted before a key is requested. Any thread may call it.
  std::function<bool(std::string_view src)> speaks_for;
  /// The number of labels that are taken in a second. Further labels wait at the labeler.
  double per_second = 500;
};

/// Returns the cost of a message in labels, for the limit of the rate. Most labels have half of the
/// bytes of kBytesOfLabel. The URI of a label may be much longer, so the bytes count, too.
inline std::size_t cost_of(std::size_t labels, std::size_t bytes) {
  constexpr std::size_t kBytesOfLabel = 512;
  // A message without labels also costs something.
  return std::max({labels, bytes / kBytesOfLabel, std::size_t{1}});
}

/// Computes when the next message may be taken, so that a labeler keeps to its rate. After a pause,
/// the labels of one second are taken at once. It has no clock. One thread uses it.
class LabelPace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit LabelPace(double per_second) : per_second_(per_second) {}

  /// Reports that a message with this cost was taken. Returns the time from which the next message
  /// may be taken.
  TimePoint took(std::size_t labels, TimePoint now) {
    const std::chrono::duration<double> cost(static_cast<double>(labels) / per_second_);
    paid_until_ = std::max(paid_until_, now - std::chrono::seconds(1)) +
                  std::chrono::duration_cast<TimePoint::duration>(cost);
    return std::max(paid_until_, now);
  }

 private:
  const double per_second_;
  /// The time up to which the labels that were taken use the rate.
  TimePoint paid_until_{};
};

/// Decodes a labeler's frames, and verifies that each label is signed by the account in its `src`.
/// Usually all labels of a stream have the same `src`, so the whole stream waits while the key of
/// this account is requested.
class LabelDecoder final : public pipeline::AnyDecoder {
 public:
  /// `accounts` outlives the decoder, and waits for servers that fail. If it is null, nothing is
  /// verified. `limits` are the limits of a discovered labeler. Input of a discovered labeler that
  /// cannot be stored is counted by reason and makes no dead letters. Without limits the labeler is
  /// trusted, and such input makes dead letters.
  LabelDecoder(pipeline::DispatchServices services, accounts::AccountSource* accounts,
               std::optional<LabelLimits> limits = std::nullopt);

  void take(pipeline::AdmittedMessage& message) override;
  /// Waits until the labeler's rate permits the next message.
  bool tick() override;
  void close() override;
  /// The messages wait in `take`, because one key holds all of them up.
  bool waits_in_place() const override { return true; }
  std::size_t abandoned() const override { return abandoned_; }

 private:
  /// The last known key of a labeler, or nothing if the labeler has no usable key.
  struct KnownKey {
    std::optional<atproto::Multikey> key;
    Timestamp asked_at;
  };
  /// The answers, which may come after the end of the decoder. Therefore the questions share the
  /// ownership.
  struct Answers {
    std::mutex mutex;
    std::condition_variable changed;
    bool closed = false;
  };
  /// Waits for the answer to the question that `ask` asks. Returns nothing if the decoder was
  /// closed before the answer came.
  template <class Answer, class Ask>
  std::optional<Result<Answer>> answer_to(Ask&& ask);

  /// Returns false if it stopped waiting for an answer, because the decoder was closed.
  bool take_labels(const pipeline::AdmittedMessage& message);
  /// The reason why a label cannot be stored.
  struct Refusal {
    verify::errc reason{};
    /// The error of the dead letter.
    std::string error;
  };
  /// Sets `refusal` if the label is refused. Returns false if the check was abandoned.
  bool judge(const event::LabelEntry& entry, std::optional<Refusal>& refusal);

  /// The result of the check of a signature.
  enum class Verdict : std::uint8_t { Good, Dropped, Abandoned };
  /// Sets `reason` if the result is Dropped.
  Verdict check(const event::LabelEntry& entry, verify::errc& reason);
  /// `forms` are the results of event::signed_forms_of_label.
  bool is_signed_by(const std::optional<atproto::Multikey>& key, std::span<const Bytes> forms,
                    ByteView signature);
  /// Returns the labeler's key, which is requested if it is not known or older than `freshness`
  /// permits. Returns nothing if the question was abandoned.
  std::optional<KnownKey> key_of(const std::string& src,
                                 accounts::AccountSource::Freshness freshness);

  const pipeline::DispatchServices services_;
  accounts::AccountSource* const accounts_;
  /// Nothing means that the labeler is trusted.
  const std::optional<LabelLimits> limits_;
  std::optional<LabelPace> pace_;
  /// The labels and bytes of the message that was taken last. It is nothing after `tick` has
  /// counted the message.
  struct Taken {
    std::size_t labels = 0;
    std::size_t bytes = 0;
  };
  std::optional<Taken> taken_;
  const std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  event::LabelFrameDecoder decoder_;
  event::DecodedLabelFrame frame_;
  GenerationalMap<std::string, KnownKey, SeededHash> keys_;
  /// The key that was parsed last. It is kept because parsing costs a sixth of a check.
  std::optional<std::pair<atproto::Multikey, atproto::VerifyingKey>> parsed_;
  std::size_t abandoned_ = 0;
};

}  // namespace skua::sources
