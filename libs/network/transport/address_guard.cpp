#include "transport/address_guard.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "transport/errc.hpp"

namespace skua::transport {

namespace {

namespace ip = boost::asio::ip;

struct Net4 {
  std::uint32_t address;
  int bits;
};

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24U | b << 16U | c << 8U | d;
}

constexpr std::array kRefused4 = {
    Net4{v4(0, 0, 0, 0), 8},        // this network
    Net4{v4(10, 0, 0, 0), 8},       // private
    Net4{v4(100, 64, 0, 0), 10},    // shared by the customers of a provider behind its NAT
    Net4{v4(127, 0, 0, 0), 8},      // loopback
    Net4{v4(169, 254, 0, 0), 16},   // link-local; clouds serve metadata there
    Net4{v4(172, 16, 0, 0), 12},    // private
    Net4{v4(192, 0, 0, 0), 24},     // protocol assignments
    Net4{v4(192, 0, 2, 0), 24},     // documentation
    Net4{v4(192, 88, 99, 0), 24},   // 6to4 relays, withdrawn
    Net4{v4(192, 168, 0, 0), 16},   // private
    Net4{v4(198, 18, 0, 0), 15},    // benchmarks
    Net4{v4(198, 51, 100, 0), 24},  // documentation
    Net4{v4(203, 0, 113, 0), 24},   // documentation
    Net4{v4(224, 0, 0, 0), 4},      // multicast
    Net4{v4(240, 0, 0, 0), 4},      // reserved, broadcast
};

bool is_public4(std::uint32_t address) {
  return std::none_of(kRefused4.begin(), kRefused4.end(), [address](const Net4& net) {
    return (address ^ net.address) >> (32 - net.bits) == 0;
  });
}

struct Net6 {
  std::array<std::uint8_t, 16> address;
  std::size_t bits;
};

/// The networks that are not public within 2000::/3, the only assigned part of IPv6.
constexpr std::array kRefused6 = {
    Net6{{0x20, 0x01, 0x00}, 23},              // protocol assignments, Teredo, benchmarks, ORCHID
    Net6{{0x20, 0x01, 0x0d, 0xb8}, 32},        // documentation
    Net6{{0x3f, 0xff, 0x00}, 20},              // documentation
    Net6{{0x26, 0x20, 0, 0x4f, 0x80, 0}, 48},  // AS112, never answers
};
constexpr Net6 kGivenOut{{0x20}, 3};
constexpr Net6 kMapped{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96};
constexpr Net6 kNat64{{0x00, 0x64, 0xff, 0x9b}, 96};
constexpr Net6 k6to4{{0x20, 0x02}, 16};

using Bytes6 = ip::address_v6::bytes_type;

bool is_in(const Bytes6& address, const Net6& net) {
  std::size_t left = net.bits;
  for (std::size_t i = 0; left > 0; ++i) {
    const std::size_t bits = std::min<std::size_t>(left, 8);
    if ((address[i] ^ net.address[i]) >> (8 - bits) != 0) return false;
    left -= bits;
  }
  return true;
}

/// Returns the IPv4 address that starts at this byte.
std::uint32_t v4_at(const Bytes6& address, std::size_t at) {
  return v4(address[at], address[at + 1], address[at + 2], address[at + 3]);
}

bool is_public6(const Bytes6& address) {
  if (is_in(address, kMapped) || is_in(address, kNat64)) return is_public4(v4_at(address, 12));
  if (is_in(address, k6to4)) return is_public4(v4_at(address, 2));
  // Loopback, unspecified, compatible, local NAT64, ULA, link-local, site-local and multicast
  // addresses are outside the assigned part.
  return is_in(address, kGivenOut) &&
         std::none_of(kRefused6.begin(), kRefused6.end(),
                      [&address](const Net6& net) { return is_in(address, net); });
}

}  // namespace

Result<std::vector<std::string>> look_up_host(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error == EAI_NONAME || error == EAI_NODATA) return errc::host_not_found;
  if (error != 0) return errc::host_lookup_failed;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);

  std::vector<std::string> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      addresses.emplace_back(text.data());
    }
  }
  if (addresses.empty()) return errc::host_not_found;
  return addresses;
}

bool is_public(const ip::address& address) {
  return address.is_v4() ? is_public4(address.to_v4().to_uint())
                         : is_public6(address.to_v6().to_bytes());
}

}  // namespace skua::transport
