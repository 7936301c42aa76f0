#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/endpoint.hpp"

namespace skua::transport::impl {

/// Resolves a Location header against a URL (RFC 3986, section 5.2): an absolute URL, `//host/...`,
/// an absolute or relative path, a query alone, or nothing, which refers to the same URL. Without
/// the fragment. Errors: errc::url_...
Result<Endpoint> redirect_target(const Endpoint& from, std::string_view location);

/// The HTTP answer that the server sent instead of a websocket.
struct UpgradeRefusal {
  unsigned status = 0;
  /// The error's name and explanation in a JSON body (atproto.com/specs/xrpc); without JSON, the
  /// body's text is the explanation. Safe to show: one short line each; empty: none.
  std::string error;
  std::string message;
  /// The target of a redirect as the server wrote it; empty: none.
  std::string location = {};
  /// How long the server asks us to wait, without a limit; nothing: it does not ask.
  std::optional<std::chrono::seconds> asked_wait = std::nullopt;
};

/// Without the parts that are in headers.
UpgradeRefusal read_refusal(unsigned status, std::string_view body);

}  // namespace skua::transport::impl
