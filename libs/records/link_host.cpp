#include "records/link_host.hpp"

#include <cstddef>

#include "base/ascii.hpp"

namespace skua::records {
namespace {

/// The longest name in DNS.
constexpr std::size_t kMaxHost = 253;

/// What follows `http://` or `https://`; empty if `uri` has another scheme.
std::string_view after_scheme(std::string_view uri) {
  const std::size_t colon = uri.substr(0, 6).find(':');
  if (colon == std::string_view::npos || uri.substr(colon + 1, 2) != "//") return {};
  const std::string scheme = ascii_lower(uri.substr(0, colon));
  return scheme == "https" || scheme == "http" ? uri.substr(colon + 3) : std::string_view{};
}

}  // namespace

std::string link_host(std::string_view uri) {
  // Browsers read a backslash as a slash.
  std::string_view host = after_scheme(uri);
  host = host.substr(0, host.find_first_of("/\\?#"));
  host.remove_prefix(host.rfind('@') + 1);
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    host = host.substr(0, end + 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  return host.size() <= kMaxHost ? ascii_lower(host) : std::string{};
}

}  // namespace skua::records
