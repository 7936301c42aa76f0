#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/ip/address.hpp>

#include "transport/endpoint.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/tcp_or_tls_stream.hpp"
#include "transport/impl/tls_client.hpp"

namespace skua::transport::impl {

/// A TCP connection of the HTTP client to one origin (RFC 9110, section 4.3.1), with TLS if the
/// scheme is https. Belongs to a request or, while idle, to the pool; on the client's thread.
struct Connection {
  Connection(const Executor& executor, const Endpoint& url)
      : secure(url.tls), host(url.host), port(url.port), stream(executor) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool leads_to(const Endpoint& url) const {
    return secure == url.tls && port == url.port && host == url.host;
  }

  const bool secure;
  const std::string host;
  const std::uint16_t port;
  /// The connected address.
  boost::asio::ip::address address;
  /// Why the certificate was refused. Stored here, because a server may renegotiate.
  CertificateRefusal refusal;
  TcpOrTlsStream stream;
};

}  // namespace skua::transport::impl
