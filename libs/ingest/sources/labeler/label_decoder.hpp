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

/// The limits of a labeler that was discovered: anybody can publish one.
struct LabelLimits {
  /// Whether the labeler may send labels of this account (`src`). Others are dropped and counted,
  /// before a key is asked for. Any thread.
  std::function<bool(std::string_view src)> speaks_for;
  /// How many labels are taken in a second; more wait at the labeler.
  double per_second = 500;
};

/// What a message costs of the rate, in labels. Most labels have half as many bytes. The URI of a
/// label may be much longer, so that the bytes count, too.
inline std::size_t cost_of(std::size_t labels, std::size_t bytes) {
  constexpr std::size_t kBytesOfLabel = 512;
  // A message without labels also costs something.
  return std::max({labels, bytes / kBytesOfLabel, std::size_t{1}});
}

/// When the next message may be taken, so that a labeler keeps to its rate. After a pause, the
/// labels of one second are taken at once. No clock of its own; one thread.
class LabelPace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit LabelPace(double per_second) : per_second_(per_second) {}

  /// A message that costs so many labels was taken. Returns when the next one may be.
  TimePoint took(std::size_t labels, TimePoint now) {
    const std::chrono::duration<double> cost(static_cast<double>(labels) / per_second_);
    paid_until_ = std::max(paid_until_, now - std::chrono::seconds(1)) +
                  std::chrono::duration_cast<TimePoint::duration>(cost);
    return std::max(paid_until_, now);
  }

 private:
  const double per_second_;
  /// The labels that were taken use the rate up to this time.
  TimePoint paid_until_{};
};

/// Decodes a labeler's frames, and verifies that each label is signed by the labeler in whose name
/// it speaks. A stream is one labeler's, as a rule: while its key is asked for, all of it waits.
class LabelDecoder final : public pipeline::AnyDecoder {
 public:
  /// `accounts`, which outlives it, waits for servers that fail; null: nothing
  /// is verified. `limits`: those of a discovered labeler. What it sends and cannot be stored is
  /// counted by reason and makes no dead letters; nothing: the labeler is trusted, and it does.
  LabelDecoder(pipeline::DispatchServices services, accounts::AccountSource* accounts,
               std::optional<LabelLimits> limits = std::nullopt);

  void take(pipeline::AdmittedMessage& message) override;
  /// Waits until the labeler's rate permits the next message.
  bool tick() override;
  void close() override;
  /// One key holds all messages up.
  bool waits_in_place() const override { return true; }
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

  /// False: it waits for an answer that does not come any more.
  bool take_labels(const pipeline::AdmittedMessage& message);
  /// Why a label cannot be stored; nothing: it can.
  struct Refusal {
    verify::errc reason{};
    /// Of the dead letter.
    std::string error;
  };
  /// `refusal` is set if the label is refused. False: the check was abandoned.
  bool judge(const event::LabelEntry& entry, std::optional<Refusal>& refusal);

  /// What became of a signature's check.
  enum class Verdict : std::uint8_t { Good, Dropped, Abandoned };
  /// `reason` is that of Dropped.
  Verdict check(const event::LabelEntry& entry, verify::errc& reason);
  /// `forms`: event::signed_forms_of_label.
  bool is_signed_by(const std::optional<atproto::Multikey>& key, std::span<const Bytes> forms,
                    ByteView signature);
  /// The labeler's key, asked for when it is not known or not `fresh` enough. Nothing: abandoned.
  std::optional<KnownKey> key_of(const std::string& src,
                                 accounts::AccountSource::Freshness freshness);

  const pipeline::DispatchServices services_;
  accounts::AccountSource* const accounts_;
  /// Nothing: the labeler is trusted.
  const std::optional<LabelLimits> limits_;
  std::optional<LabelPace> pace_;
  /// The labels and bytes of the message that was taken last; nothing: `tick` has counted it.
  struct Taken {
    std::size_t labels = 0;
    std::size_t bytes = 0;
  };
  std::optional<Taken> taken_;
  const std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  event::LabelFrameDecoder decoder_;
  event::DecodedLabelFrame frame_;
  GenerationalMap<std::string, KnownKey, SeededHash> keys_;
  /// The key that was parsed last: parsing costs a sixth of a check.
  std::optional<std::pair<atproto::Multikey, atproto::VerifyingKey>> parsed_;
  std::size_t abandoned_ = 0;
};

}  // namespace skua::sources
