#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.hpp"

namespace skua::sim {

/// An HTTP answer, whole, with what is to go wrong while it is sent.
struct Response {
  /// No aggregate: a number must not be taken for an answer by Outcome.
  Response() = default;

  unsigned status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  Bytes body;

  /// A repository: what the download faults strike.
  bool is_download = false;
  /// The connection is dropped after so many bytes of the body.
  std::optional<std::size_t> cut_after;
  /// 0: as fast as the client takes them.
  std::size_t bytes_per_second = 0;
  /// Called when the answer has been sent.
  std::function<void()> then;
};

Response json_response(const nlohmann::ordered_json& body, unsigned status = 200);
Response text_response(std::string_view text, std::string content_type = "text/plain");
/// `{"error", "message"}` (atproto.com/specs/xrpc#error-responses).
Response error_response(unsigned status, std::string_view error, std::string_view message);

}  // namespace skua::sim
