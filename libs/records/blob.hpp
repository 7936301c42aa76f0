#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "atproto/cid.hpp"

namespace skua::records {

/// A record's reference to a blob (atproto.com/specs/data-model#blob-type), in the present form
/// `{$type: blob, ref, mimeType, size}` or in the legacy form `{cid, mimeType}`.
struct Blob {
  /// The present form's link; absent in the legacy form.
  std::optional<atproto::Cid> ref;
  /// The legacy form's CID, as the record has it; empty in the present form.
  std::string_view legacy_cid;
  std::string_view mime_type;
  /// Bytes; absent in the legacy form.
  std::optional<std::int64_t> size;

  /// The blob's CID as text, in either form of blob.
  std::string cid_text() const { return ref ? ref->to_string() : std::string(legacy_cid); }
};

}  // namespace skua::records
