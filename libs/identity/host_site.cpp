#include "identity/host_site.hpp"

#include "identity/site_queue.hpp"

namespace skua::identity {

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
