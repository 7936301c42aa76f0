#pragma once

#include <string>
#include <string_view>

namespace skua::transport::impl {

/// The HTTP answer that the server sent instead of a websocket.
struct UpgradeRefusal {
  unsigned status = 0;
  /// The error's name and explanation in a JSON body (atproto.com/specs/xrpc); without JSON, the
  /// body's text is the explanation. Safe to show: one short line each; empty: none.
  std::string error;
  std::string message;
};

UpgradeRefusal read_refusal(unsigned status, std::string_view body);

}  // namespace skua::transport::impl
