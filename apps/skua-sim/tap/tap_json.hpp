#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "base/bytes.hpp"

namespace skua::sim {

/// A record in an event of Tap.
struct TapRecord {
  bool live = false;
  std::string_view did;
  std::string_view rev;
  std::string_view path;
  std::string_view action;  // create, update or delete
  /// The CID; nothing for a delete.
  std::optional<atproto::Cid> cid;
  /// The block of the record. Unreadable values are omitted, as in Tap.
  ByteView block = {};
};

/// Returns `"type":"record","record":{...}`. `scratch` is reusable memory. `odd_fields` adds fields
/// that no reader knows.
std::string tap_record_json(const TapRecord& record, atproto::Document& scratch,
                            bool odd_fields = false);

struct TapIdentity {
  std::string_view did;
  std::string_view handle;
  std::string_view status;
};

/// Returns `"type":"identity","identity":{...}`.
std::string tap_identity_json(const TapIdentity& identity);

}  // namespace skua::sim
