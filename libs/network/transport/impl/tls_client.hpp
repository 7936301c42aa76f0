#pragma once

#include <functional>
#include <string>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/verify_context.hpp>

#include "transport/endpoint.hpp"

namespace skua::transport::impl {

/// Makes a client context with TLS 1.2 and newer. It trusts the system's certificates and those of
/// `ca_file` (PEM; may be empty). Throws std::runtime_error if the file cannot be used.
boost::asio::ssl::context make_tls_client_context(const std::string& ca_file);

/// Sends the endpoint's host name (SNI), unless the host is an address.
void set_server_name(SSL* ssl, const Endpoint& endpoint);

/// The reason why a certificate was refused.
struct CertificateRefusal {
  /// The reason for people. Empty if the certificate was not refused.
  std::string reason;
  /// True if no trusted authority signed the certificate, or if it has expired. False if its name
  /// does not match.
  bool is_untrusted = false;
};

/// Returns a verify callback that accepts a trusted certificate for the endpoint's host. If the
/// callback refuses a certificate, it writes the reason to `refusal`, which must outlive the
/// callback.
std::function<bool(bool, boost::asio::ssl::verify_context&)> verify_host(
    const Endpoint& endpoint, CertificateRefusal& refusal);

}  // namespace skua::transport::impl
