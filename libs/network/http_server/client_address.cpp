#include "http_server/client_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>

namespace skua::http_server {
namespace {

namespace asio = boost::asio;

constexpr unsigned kBitsOfIpv6 = 128;
constexpr unsigned kBitsOfIpv4 = 32;
/// More than the longest address, and less than a text that costs time.
constexpr std::size_t kLongestAddress = 64;
constexpr int kMostProxies = 16;

std::optional<asio::ip::address> parse_address(std::string_view text) {
  // An address with a zone (RFC 4007) is of one machine.
  if (text.size() > kLongestAddress || text.find('%') != text.npos) return std::nullopt;
  boost::system::error_code error;
  const auto address = asio::ip::make_address(std::string(text), error);
  if (error) return std::nullopt;
  return address;
}

asio::ip::address_v6 as_ipv6(const asio::ip::address& address) {
  return address.is_v6() ? address.to_v6()
                         : asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4());
}

/// Returns the text of an address; that of the IPv4 address for a mapped one.
std::string text_of_address(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

/// Removes the port of `192.0.2.1:80` and `[2001:db8::1]:80`, and brackets.
std::string_view without_port(std::string_view element) {
  if (element.starts_with('[')) return element.substr(1, element.find(']') - 1);
  const auto colon = element.find(':');
  const bool has_port = colon != element.npos && element.find(':', colon + 1) == element.npos;
  return has_port ? element.substr(0, colon) : element;
}

/// Removes the last element of a list with commas, and returns it without blanks.
std::string_view take_last(std::string_view& list) {
  const auto comma = list.rfind(',');
  std::string_view element = comma == list.npos ? list : list.substr(comma + 1);
  list = comma == list.npos ? std::string_view() : list.substr(0, comma);
  element.remove_prefix(std::min(element.find_first_not_of(" \t"), element.size()));
  return element.substr(0, element.find_last_not_of(" \t") + 1);
}

}  // namespace

std::optional<AddressRange> AddressRange::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  const unsigned most = address->is_v4() ? kBitsOfIpv4 : kBitsOfIpv6;
  unsigned bits = most;
  if (slash != text.npos) {
    const std::string_view number = text.substr(slash + 1);
    const auto read = std::from_chars(number.data(), number.data() + number.size(), bits);
    if (read.ec != std::errc() || read.ptr != number.data() + number.size() || bits > most) {
      return std::nullopt;
    }
  }
  return AddressRange(as_ipv6(*address).to_bytes(), kBitsOfIpv6 - most + bits);
}

bool AddressRange::contains(std::string_view address) const {
  const auto parsed = parse_address(address);
  if (!parsed) return false;
  const Bytes bytes = as_ipv6(*parsed).to_bytes();
  for (unsigned bit = 0; bit < bits_; bit += 8) {
    const unsigned kept = std::min(bits_ - bit, 8U);
    const unsigned different = static_cast<unsigned>(bytes.at(bit / 8)) ^ bytes_.at(bit / 8);
    if ((different >> (8 - kept)) != 0) return false;
  }
  return true;
}

bool is_loopback(std::string_view address) {
  const auto parsed = parse_address(address);
  return parsed && parsed->is_loopback();
}

std::string counted_address(std::string_view address) {
  const auto parsed = parse_address(address);
  if (!parsed) return std::string(address);
  if (parsed->is_v4() || parsed->to_v6().is_v4_mapped()) return text_of_address(*parsed);
  auto bytes = parsed->to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return asio::ip::address_v6(bytes).to_string();
}

bool is_proxy(std::string_view address, std::span<const AddressRange> proxies) {
  return std::any_of(proxies.begin(), proxies.end(),
                     [address](const AddressRange& range) { return range.contains(address); });
}

std::string client_address(std::string_view peer, std::string_view forwarded,
                           std::span<const AddressRange> proxies) {
  std::string client(peer);
  for (int i = 0; i < kMostProxies && !forwarded.empty() && is_proxy(client, proxies); ++i) {
    const auto address = parse_address(without_port(take_last(forwarded)));
    if (!address) break;
    client = text_of_address(*address);
  }
  return client;
}

}  // namespace skua::http_server
