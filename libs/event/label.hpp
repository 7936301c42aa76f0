#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "records/reference.hpp"

namespace skua::event {

/// A label (atproto.com/specs/label): a labeler's statement about an account or a record. Views
/// into the DAG-CBOR that it was read from.
struct Label {
  /// The labeler's DID.
  std::string_view src;
  std::variant<records::ActorRef, records::RecordRef> subject;
  /// The version of the record that is labeled; nothing: all versions.
  std::optional<atproto::Cid> cid;
  /// 1 to 128 bytes.
  std::string_view val;
  /// Withdraws the label of the same src, subject and val.
  bool neg = false;
  Timestamp cts;
  std::optional<Timestamp> exp;
  /// Empty: the label is not signed.
  ByteView sig;
};

}  // namespace skua::event
