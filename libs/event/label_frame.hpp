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

/// One entry of a frame's `labels`. Owns what its label points into: moved, never copied.
struct LabelEntry {
  LabelEntry() = default;
  LabelEntry(LabelEntry&&) noexcept = default;
  LabelEntry& operator=(LabelEntry&&) noexcept = default;
  LabelEntry(const LabelEntry&) = delete;
  LabelEntry& operator=(const LabelEntry&) = delete;

  /// Its DAG-CBOR, all fields as they were sent.
  Bytes block;
  Label label;
  /// Empty: the label is well-formed. Otherwise `label` contains the readable fields, beginning
  /// with src.
  std::optional<errc> error;
  /// It has fields that this program does not know.
  bool has_unknown_fields = false;
};

/// One message of com.atproto.label.subscribeLabels, decoded.
struct DecodedLabelFrame {
  enum class Type : std::uint8_t { Labels, Info, Error, Unknown };
  Type type = Type::Unknown;
  /// 0: it has none.
  std::int64_t seq = 0;
  std::vector<LabelEntry> labels;
  /// #info: name and message. Error frame: error and message.
  std::string name;
  std::string message;
};

/// Decodes a labeler's frames (atproto.com/specs/event-stream and /label). A label that cannot be
/// used says why, its siblings are untouched. Holds scratch memory: one a thread, no I/O.
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

/// The bytes that a label's signature covers: its DAG-CBOR without `sig`. `block` is the label's
/// block.
Bytes signed_bytes_of_label(ByteView block);

}  // namespace skua::event
