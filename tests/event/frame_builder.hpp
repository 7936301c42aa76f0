#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"

namespace skua::test {

using nlohmann::json;

inline constexpr std::string_view kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
inline constexpr std::string_view kRev = "3jquh3dxgi52o";
inline constexpr std::string_view kTime = "2026-07-04T14:38:08.085434Z";
/// kTime in microseconds.
inline constexpr std::int64_t kTimeUs = 1'783'175'888'085'434;

/// DAG-CBOR of a value in JSON. Throws when it has none.
Bytes cbor_of(const json& value);

/// Bytes in the JSON form of the data model.
json bytes_json(const Bytes& bytes);
json link_json(const atproto::Cid& cid);

/// A frame of two values. `header` is `{op, t}` of a message, or what a test wants to be wrong.
Bytes frame_of(const json& header, const json& body);
Bytes message(const std::string& type, const json& body);

/// Makes #commit frames. Ops and blocks are as wrong as the test makes them.
class CommitBuilder {
 public:
  CommitBuilder& create(const std::string& path, const Bytes& block) {
    return op("create", path, block);
  }
  CommitBuilder& update(const std::string& path, const Bytes& block) {
    return op("update", path, block);
  }
  CommitBuilder& remove(const std::string& path);
  CommitBuilder& op(const std::string& action, const std::string& path, const Bytes& block);
  /// An op without changes.
  CommitBuilder& op(const json& op);
  CommitBuilder& block(const Bytes& block);
  /// A block under a CID that is not its own.
  CommitBuilder& wrong_block(const Bytes& block);

  /// The body with the fields of a commit today; tests change it before `frame`.
  json body() const;
  Bytes frame() const { return message("#commit", body()); }

 private:
  json ops_ = json::array();
  std::vector<std::pair<atproto::Cid, Bytes>> blocks_;
};

json post_json(const std::string& text);

}  // namespace skua::test
