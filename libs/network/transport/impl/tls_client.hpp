#pragma once

#include <functional>
#include <string>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/verify_context.hpp>

#include "transport/endpoint.hpp"

namespace skua::transport::impl {

/// A client context: TLS 1.2 and newer, the system's certificates and those of `ca_file` (PEM;
/// empty: none). Throws std::runtime_error if the file cannot be used.
boost::asio::ssl::context make_tls_client_context(const std::string& ca_file);

/// Sends the endpoint's host name (SNI), unless it is an address.
void set_server_name(SSL* ssl, const Endpoint& endpoint);

/// Why a certificate was refused.
struct CertificateRefusal {
  /// For people; empty: it was not refused.
  std::string reason;
  /// True: no trusted authority signed it, or it has expired. False: its name does not match.
  bool is_untrusted = false;
};

/// A verify callback that accepts a trusted certificate for the endpoint's host. If it refuses a
/// certificate, it writes the reason to `refusal`, which must outlive it.
std::function<bool(bool, boost::asio::ssl::verify_context&)> verify_host(
    const Endpoint& endpoint, CertificateRefusal& refusal);

}  // namespace skua::transport::impl
