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

/// A subject other than an account or a record named by DID, such as `https://example.com`.
struct UriRef {
  std::string_view uri;
  /// 0 until the subject is resolved; see tables::rkey_number.
  std::int64_t number = 0;
};

/// A label (atproto.com/specs/label) is a labeler's statement about an account, a record or another
/// resource. Its views point into the DAG-CBOR from which the label was read.
struct Label {
  /// The labeler's DID.
  std::string_view src;
  std::variant<records::ActorRef, records::RecordRef, UriRef> subject;
  /// The version of the record that has the label. Without a CID the label applies to all versions.
  std::optional<atproto::Cid> cid;
  /// The value has 1 to 128 bytes.
  std::string_view val;
  /// Whether this label withdraws the label with the same src, subject and val.
  bool neg = false;
  Timestamp cts;
  std::optional<Timestamp> exp;
  /// Empty if the label is not signed.
  ByteView sig;
};

}  // namespace skua::event
