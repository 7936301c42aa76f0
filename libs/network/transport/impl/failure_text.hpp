#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <boost/beast/websocket/rfc6455.hpp>

#include "base/result.hpp"
#include "transport/endpoint.hpp"
#include "transport/impl/refusal.hpp"

namespace skua::transport::impl {

// These functions return messages for operators about the reason why a connection failed or ended.

/// The name could not be looked up.
std::string lookup_failed(const Endpoint& endpoint, ErrorCode error);
/// There is no TCP connection.
std::string connect_failed(const Endpoint& endpoint, ErrorCode error);
/// The certificate was accepted or never seen, but TLS failed.
std::string tls_failed(const Endpoint& endpoint, ErrorCode error);
/// The server did not answer the request for a websocket at `target` with an upgrade.
std::string upgrade_refused(const Endpoint& endpoint, std::string_view target,
                            const UpgradeRefusal& refusal);
/// The websocket upgrade failed without an HTTP answer.
std::string upgrade_failed(const Endpoint& endpoint, ErrorCode error);

// These functions are for an established connection. `peer` is the name of the other side.

/// Reading failed.
std::string read_failed(std::string_view peer, ErrorCode error);
/// The other side sent a close frame.
std::string closed_by(std::string_view peer, const boost::beast::websocket::close_reason& reason);

/// Returns a text such as `15 s` or `300 ms`.
std::string timeout_text(std::chrono::milliseconds duration);

}  // namespace skua::transport::impl
