#include "identity/host_site.hpp"

namespace skua::identity {

std::string site_of(std::string_view did) {
  return site_of_host(did.substr(did.rfind(':') + 1));
}

std::string site_of_host(std::string_view host) {
  const auto last = host.rfind('.');
  if (last == std::string_view::npos || last == 0) return std::string(host);
  const auto before = host.rfind('.', last - 1);
  return std::string(before == std::string_view::npos ? host : host.substr(before + 1));
}

std::string site_of_origin(std::string_view origin) {
  constexpr std::string_view kBehindScheme = "://";
  const auto scheme = origin.find(kBehindScheme);
  const auto authority =
      scheme == origin.npos ? origin : origin.substr(scheme + kBehindScheme.size());
  const auto host = authority.substr(0, authority.find(':'));
  const auto last = host.substr(host.rfind('.') + 1);
  const bool is_address =
      authority.starts_with('[') || last.empty() || (last.front() >= '0' && last.front() <= '9');
  if (is_address || last.size() == host.size()) return std::string(authority);
  return site_of_host(host);
}

}  // namespace skua::identity
