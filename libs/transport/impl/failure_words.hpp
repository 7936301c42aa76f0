#pragma once

#include <chrono>
#include <string>

#include <boost/beast/websocket/rfc6455.hpp>

#include "base/result.hpp"
#include "transport/endpoint.hpp"

namespace skua::transport::impl {

// Why a connection failed or ended, in words for people who run the indexer.

/// The name could not be looked up.
std::string lookup_failed(const Endpoint& endpoint, ErrorCode error);
/// No TCP connection.
std::string connect_failed(const Endpoint& endpoint, ErrorCode error);
/// The certificate was accepted or never seen, but TLS failed.
std::string tls_failed(const Endpoint& endpoint, ErrorCode error);
/// The websocket upgrade failed; `status` is the HTTP answer's, 0 when there was none.
std::string upgrade_failed(const Endpoint& endpoint, ErrorCode error, unsigned status);
/// Reading failed on a connection that stood.
std::string read_failed(ErrorCode error, std::size_t max_frame_bytes);
/// The relay sent a close frame.
std::string closed_by_relay(const boost::beast::websocket::close_reason& reason);
/// `15 s`, `300 ms`.
std::string in_words(std::chrono::milliseconds duration);

}  // namespace skua::transport::impl
