#pragma once

#include "sources/source.hpp"

namespace skua::sources {

/// The path of subscribeLabels (atproto.com/specs/label).
inline constexpr std::string_view kSubscribeLabelsPath = "/xrpc/com.atproto.label.subscribeLabels";

/// Whether a message has labels. The first message of a labeler's capture has labels.
bool is_labels_message(ByteView message);
/// Makes a decoder of a labeler's messages.
std::unique_ptr<pipeline::AnyDecoder> make_label_decoder(pipeline::DecoderServices services);

/// A labeler, which is read by com.atproto.label.subscribeLabels.
class LabelerSource final : public Source {
 public:
  using Source::Source;

  std::string_view kind() const override { return "labeler"; }
  Proof proof() const override { return Proof::Labels; }
  /// Labels are state, so the first run reads all labels that the labeler has published.
  std::optional<std::int64_t> first_position() const override { return 0; }
  /// One thread suffices, because all messages wait for the same key.
  std::size_t decode_threads(std::size_t /*wanted*/) const override { return 1; }
  std::unique_ptr<Intake> make_intake(IntakeServices services) const override;
  std::unique_ptr<pipeline::AnyDecoder> make_decoder(
      pipeline::DecoderServices services) const override;
};

}  // namespace skua::sources
