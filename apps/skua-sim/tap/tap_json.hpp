#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "base/bytes.hpp"

namespace skua::sim {

/// A record as Tap tells of it.
struct TapRecord {
  bool live = false;
  std::string_view did;
  std::string_view rev;
  std::string_view path;
  std::string_view action;  // create, update or delete
  /// Nothing on delete.
  std::optional<atproto::Cid> cid;
  /// Its block; what cannot be read is left out, as Tap does.
  ByteView block = {};
};

/// `"type":"record","record":{...}`. `scratch` holds memory between calls. With `odd_fields` there
/// are some that no reader knows.
std::string tap_record_json(const TapRecord& record, atproto::Document& scratch,
                            bool odd_fields = false);

struct TapIdentity {
  std::string_view did;
  std::string_view handle;
  std::string_view status;
};

/// `"type":"identity","identity":{...}`; `word` is what old servers said instead, "user".
std::string tap_identity_json(const TapIdentity& identity, std::string_view word);

}  // namespace skua::sim
