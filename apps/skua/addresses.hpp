#pragma once

#include <cstdint>
#include <string>

#include "option.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {

// Addresses, as users write them. All functions throw UsageError, which names the origin, for one
// that is malformed.

/// An IP address and a port.
struct ListenAddress {
  std::string address;
  /// 0: a free one.
  std::uint16_t port = 0;
  /// For people: `[::1]:2470`.
  std::string text() const;
};

/// Parses `127.0.0.1:2470`, `[::1]:2470`, `localhost:2470` or `:2470`. The last two mean 127.0.0.1.
ListenAddress listen_address(const SettingValue& given);

/// A name of a host without scheme and port, in lower case.
std::string http_host(const SettingValue& given);

/// Where `skua run` has its pages unless `--http` says otherwise.
inline constexpr const char* kDefaultPages = "127.0.0.1:2580";

/// The origin of the pages of a process, such as `http://127.0.0.1:2580`: of the address on which
/// it listens, or of a URL. Throws also for `off`.
std::string pages_origin(const SettingValue& given);

/// The address of a websocket. `example`: of such an address, for the message.
transport::Endpoint stream_address(const SettingValue& given, std::string_view default_path,
                                   const char* example);
transport::Endpoint relay_address(const SettingValue& given);

/// The origin of the HTTP interface at an address, such as `https://relay.example`.
std::string http_origin(transport::Endpoint endpoint);

/// The origin of a host in any form that users write: `pds.example`, `http://localhost:2583`.
std::string host_origin(const SettingValue& given);

}  // namespace skua::cli
