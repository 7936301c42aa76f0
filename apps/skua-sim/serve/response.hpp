#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.hpp"

namespace skua::sim {

/// A complete HTTP answer, with the faults of its transmission.
struct Response {
  /// Not an aggregate: otherwise Outcome could convert a number to an answer.
  Response() = default;

  unsigned status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  Bytes body;

  /// The answer is a repository, for download faults.
  bool is_download = false;
  /// Drops the connection after this many bytes of the body.
  std::optional<std::size_t> cut_after;
  /// 0: no limit.
  std::size_t bytes_per_second = 0;
};

Response json_response(const nlohmann::ordered_json& body, unsigned status = 200);
Response text_response(std::string_view text, std::string content_type = "text/plain");
/// `{"error", "message"}` (atproto.com/specs/xrpc#error-responses).
Response error_response(unsigned status, std::string_view error, std::string_view message);

}  // namespace skua::sim
