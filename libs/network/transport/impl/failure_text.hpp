#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <boost/beast/websocket/rfc6455.hpp>

#include "base/result.hpp"
#include "transport/endpoint.hpp"
#include "transport/impl/refusal.hpp"

namespace skua::transport::impl {

// Messages for operators: why a connection failed or ended.

/// The name could not be looked up.
std::string lookup_failed(const Endpoint& endpoint, ErrorCode error);
/// No TCP connection.
std::string connect_failed(const Endpoint& endpoint, ErrorCode error);
/// The certificate was accepted or never seen, but TLS failed.
std::string tls_failed(const Endpoint& endpoint, ErrorCode error);
/// The server answered the request for a websocket at `target` with something else.
std::string upgrade_refused(const Endpoint& endpoint, std::string_view target,
                            const UpgradeRefusal& refusal);
/// The websocket upgrade failed without an HTTP answer.
std::string upgrade_failed(const Endpoint& endpoint, ErrorCode error);

// For an established connection. `peer` is the name of the other side.

/// Reading failed.
std::string read_failed(std::string_view peer, ErrorCode error);
/// The other side sent a close frame.
std::string closed_by(std::string_view peer, const boost::beast::websocket::close_reason& reason);

/// `15 s`, `300 ms`.
std::string timeout_text(std::chrono::milliseconds duration);

}  // namespace skua::transport::impl
