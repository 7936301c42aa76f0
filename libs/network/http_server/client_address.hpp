#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace skua::http_server {

/// The IP addresses with a common prefix. An IPv4 address is the same as its mapped IPv6 address.
class AddressRange {
 public:
  /// Parses an address, or a prefix such as `10.0.0.0/8` or `2001:db8::/32`.
  static std::optional<AddressRange> parse(std::string_view text);

  /// Returns whether an address is in the range; false for text that is not an address.
  bool contains(std::string_view address) const;

  /// An IPv6 address, in network order.
  using Bytes = std::array<std::uint8_t, 16>;

 private:
  AddressRange(const Bytes& bytes, unsigned bits) : bytes_(bytes), bits_(bits) {}

  Bytes bytes_;
  unsigned bits_;
};

/// Whether an IP address is a loopback address. False for text that is not an address.
bool is_loopback(std::string_view address);

/// Returns the part of an IP address that the limits count: an IPv6 address without its last 64
/// bits, which its host can choose. Text that is not an address stays unchanged.
std::string counted_address(std::string_view address);

/// Returns whether an address is in one of the ranges.
bool is_proxy(std::string_view address, std::span<const AddressRange> proxies);

/// Returns the address of the client that sent a request. Without proxies, and if `peer`, the
/// address of the connection, is not one of them, it is `peer`. Otherwise it is the last address of
/// `forwarded`, the header X-Forwarded-For, that is not a proxy: each proxy adds the address from
/// which it got the request, and the client can write anything before that. An element may have a
/// port. At an element that is not an address, at the end of the header, and after 16 proxies it is
/// the last proxy that was read.
std::string client_address(std::string_view peer, std::string_view forwarded,
                           std::span<const AddressRange> proxies);

}  // namespace skua::http_server
