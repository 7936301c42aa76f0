#include "transport/impl/tls_client.hpp"

#include <memory>
#include <stdexcept>
#include <string_view>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <fmt/format.h>
#include <openssl/x509v3.h>

#include "base/result.hpp"

namespace skua::transport::impl {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

/// Returns the DNS names that a certificate is valid for, at most a few.
std::string names_of(X509* certificate) {
  constexpr int kMaxNames = 5;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  std::string text;
  int listed = 0;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()) && listed < kMaxNames; ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const auto* data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName));
    text += fmt::format("{}{}", listed == 0 ? "" : ", ", std::string_view(data, size));
    ++listed;
  }
  return text;
}

}  // namespace

ssl::context make_tls_client_context(const std::string& ca_file) {
  ssl::context context(ssl::context::tls_client);
  context.set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  context.set_verify_mode(ssl::verify_peer);
  ErrorCode ignored;  // if the system has no certificates, the refusal will show this
  context.set_default_verify_paths(ignored);
  if (!ca_file.empty()) {
    ErrorCode error;
    context.load_verify_file(ca_file, error);
    if (error) {
      throw std::runtime_error(
          fmt::format("cannot use the CA file {}: {}", ca_file, error.message()));
    }
  }
  return context;
}

void set_server_name(SSL* handle, const Endpoint& endpoint) {
  ErrorCode not_an_address;
  asio::ip::make_address(endpoint.host, not_an_address);
  if (not_an_address) SSL_set_tlsext_host_name(handle, endpoint.host.c_str());
}

std::function<bool(bool, ssl::verify_context&)> verify_host(const Endpoint& endpoint,
                                                            CertificateRefusal& refusal) {
  return [host = endpoint.host, rule = ssl::host_name_verification(endpoint.host), &refusal](
             bool trusted, ssl::verify_context& context) {
    X509_STORE_CTX* store = context.native_handle();
    if (!trusted) {
      refusal.is_untrusted = true;
      refusal.reason = fmt::format(
          "the TLS certificate of {} is not trusted: {}; --ca-file FILE adds a certificate to "
          "trust",
          host, X509_verify_cert_error_string(X509_STORE_CTX_get_error(store)));
      return false;
    }
    if (!rule(trusted, context)) {
      refusal.reason = fmt::format("the TLS certificate is not valid for {}", host);
      const auto names = names_of(X509_STORE_CTX_get_current_cert(store));
      if (!names.empty()) refusal.reason += fmt::format(", only for {}", names);
      return false;
    }
    return true;
  };
}

}  // namespace skua::transport::impl
