#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "event/errc.hpp"
#include "event/frame_decoder.hpp"
#include "event/label.hpp"

namespace skua::event {

/// One entry of a frame's `labels`. `label` has views into this object, so move a LabelEntry and
/// never copy it.
struct LabelEntry {
  LabelEntry() = default;
  LabelEntry(LabelEntry&&) noexcept = default;
  LabelEntry& operator=(LabelEntry&&) noexcept = default;
  LabelEntry(const LabelEntry&) = delete;
  LabelEntry& operator=(const LabelEntry&) = delete;

  /// The label's DAG-CBOR with all fields that were sent.
  Bytes block;
  Label label;
  /// Empty if the label is well-formed. Otherwise `label` contains the readable fields, starting
  /// with src.
  std::optional<errc> error;
  /// Whether the label has fields that this program does not know.
  bool has_unknown_fields = false;
};

/// One decoded message of com.atproto.label.subscribeLabels.
struct DecodedLabelFrame {
  enum class Type : std::uint8_t { Labels, Info, Error, Unknown };
  Type type = Type::Unknown;
  /// 0 if the message has no seq.
  std::int64_t seq = 0;
  std::vector<LabelEntry> labels;
  /// The name and message of #info, or the error and message of an error frame.
  std::string name;
  std::string message;
};

/// Decodes a labeler's frames (atproto.com/specs/event-stream and /label). A label that cannot be
/// used has an error; the other labels are not affected. Contains scratch memory: use one for each
/// thread. No I/O.
class LabelFrameDecoder {
 public:
  /// Returns an error if the whole frame is unusable. `out` is then undefined.
  Result<void> decode(ByteView frame, DecodedLabelFrame& out);

 private:
  Result<void> read_labels(ByteView bytes, DecodedLabelFrame& out);
  void read_label(const atproto::Value& value, LabelEntry& out);

  FrameDecoder words_;
  DecodedFrame other_;
  atproto::Document header_;
  atproto::Document body_;
  atproto::Document label_;
};

/// Returns the bytes that a label's signature may cover (atproto.com/specs/label, "Signatures").
/// They are the DAG-CBOR of the label's fields of com.atproto.label.defs#label, without `sig`.
/// Fields that a labeler or a relay adds are not signed. An optional field that is null counts as
/// absent in the first form. A labeler that sends null may have signed the null, so the second form
/// contains it. `block` is the label's block.
std::vector<Bytes> signed_forms_of_label(ByteView block);

}  // namespace skua::event
