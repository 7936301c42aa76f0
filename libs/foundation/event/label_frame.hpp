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

/// One entry of a frame's `labels`. `label` has views into this object: move, never copy.
struct LabelEntry {
  LabelEntry() = default;
  LabelEntry(LabelEntry&&) noexcept = default;
  LabelEntry& operator=(LabelEntry&&) noexcept = default;
  LabelEntry(const LabelEntry&) = delete;
  LabelEntry& operator=(const LabelEntry&) = delete;

  /// The label's DAG-CBOR with all fields that were sent.
  Bytes block;
  Label label;
  /// Empty: the label is well-formed. Otherwise `label` contains the readable fields, starting with
  /// src.
  std::optional<errc> error;
  /// The label has fields that this program does not know.
  bool has_unknown_fields = false;
};

/// One message of com.atproto.label.subscribeLabels, decoded.
struct DecodedLabelFrame {
  enum class Type : std::uint8_t { Labels, Info, Error, Unknown };
  Type type = Type::Unknown;
  /// 0: the message has no seq.
  std::int64_t seq = 0;
  std::vector<LabelEntry> labels;
  /// #info: name and message. Error frame: error and message.
  std::string name;
  std::string message;
};

/// Decodes a labeler's frames (atproto.com/specs/event-stream and /label). A label that cannot be
/// used has an error; the other labels are not affected. Contains scratch memory: use one for each
/// thread. No I/O.
class LabelFrameDecoder {
 public:
  /// Error: the frame as a whole is unusable. `out` is then undefined.
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

/// The bytes that a label's signature may cover (atproto.com/specs/label, "Signatures"): the
/// DAG-CBOR of the fields of com.atproto.label.defs#label that it has, without `sig`. Fields that a
/// labeler or a relay adds are not signed. An optional field that is null counts as absent; a
/// labeler that sends null may have signed it, so that this is the second form. `block` is the
/// label's block.
std::vector<Bytes> signed_forms_of_label(ByteView block);

}  // namespace skua::event
