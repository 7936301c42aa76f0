#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/endpoint.hpp"

namespace skua::transport::impl {

/// Resolves a Location header against a URL (RFC 3986, section 5.2). The header is an absolute URL,
/// `//host/...`, an absolute or relative path, or a query alone. An empty text refers to the same
/// URL. Removes the fragment. Errors: errc::url_...
Result<Endpoint> redirect_target(const Endpoint& from, std::string_view location);

/// The HTTP answer that the server sent instead of a websocket.
struct UpgradeRefusal {
  unsigned status = 0;
  /// The error's name and explanation in a JSON body (atproto.com/specs/xrpc). Without JSON, the
  /// body's text is the explanation. Both are one short line that is safe to show, or empty.
  std::string error;
  std::string message;
  /// The target of a redirect as the server wrote it. Empty if the answer is not a redirect.
  std::string location = {};
  /// The wait that the server asks for, without a limit, or nothing if the server does not ask.
  std::optional<std::chrono::seconds> asked_wait = std::nullopt;
};

/// Reads the status and the body. The caller fills the members that come from headers.
UpgradeRefusal read_refusal(unsigned status, std::string_view body);

}  // namespace skua::transport::impl
