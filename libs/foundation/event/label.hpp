#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "records/reference.hpp"

namespace skua::event {

/// A subject that is neither an account nor a record named by DID, such as `https://example.com`.
struct UriRef {
  std::string_view uri;
  /// Filled by resolving; 0 before. See tables::rkey_number.
  std::int64_t number = 0;
};

/// A label (atproto.com/specs/label): a labeler's statement about an account, a record or another
/// resource. Views into the DAG-CBOR that it was read from.
struct Label {
  /// The labeler's DID.
  std::string_view src;
  std::variant<records::ActorRef, records::RecordRef, UriRef> subject;
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
