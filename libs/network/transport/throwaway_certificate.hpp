#pragma once

#include <string>
#include <vector>

namespace skua::transport {

/// A certificate authority for one run and a server certificate that it signed, both in PEM. Both
/// have EC P-256 keys and are valid for a week. For loopback servers in tests and in the simulator.
/// The authority's private key is discarded.
struct ThrowawayCertificate {
  std::string ca_pem;
  std::string certificate_pem;
  std::string key_pem;
};

/// Creates a certificate for `names`: DNS names or IP addresses, at least one. Throws
/// std::runtime_error if OpenSSL fails.
ThrowawayCertificate make_throwaway_certificate(const std::vector<std::string>& names);

}  // namespace skua::transport
