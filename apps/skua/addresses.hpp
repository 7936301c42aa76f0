#pragma once

#include <cstdint>
#include <string>

#include "http_server/client_address.hpp"
#include "option.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {

// The functions read addresses in the forms that users write. All throw UsageError, which names the
// origin of the value, for a malformed address.

/// An IP address and a port.
struct ListenAddress {
  std::string address;
  /// The port; 0 for a free port.
  std::uint16_t port = 0;
  /// Returns a text for people: `[::1]:2470`.
  std::string text() const;
};

/// Parses `127.0.0.1:2470`, `[::1]:2470`, `localhost:2470` or `:2470`. The last two mean 127.0.0.1.
ListenAddress listen_address(const SettingValue& given);

/// Reads the name of a host without scheme and port. Returns it in lower case.
std::string http_host(const SettingValue& given);

/// Reads the address of a reverse proxy, or a prefix such as `10.0.0.0/8`.
http_server::AddressRange trusted_proxy(const SettingValue& given);

/// The address of the pages of `skua run` unless `--http` names another one.
inline constexpr const char* kDefaultPages = "127.0.0.1:2580";
/// The same for `skua consumers run`, which can run beside `skua run`.
inline constexpr const char* kDefaultConsumerPages = "127.0.0.1:2581";

/// Returns the origin of the pages of a process, such as `http://127.0.0.1:2580`. `given` is the
/// address on which the process listens, or a URL. Throws UsageError for `off` too.
std::string pages_origin(const SettingValue& given);

/// Reads the address of a websocket. `example` is such an address for the error message.
transport::Endpoint stream_address(const SettingValue& given, std::string_view default_path,
                                   const char* example);
transport::Endpoint relay_address(const SettingValue& given);

/// Returns the origin of the HTTP interface at an address, such as `https://relay.example`.
std::string http_origin(transport::Endpoint endpoint);

/// Returns the origin of a host in any form that users write: `pds.example`,
/// `http://localhost:2583`.
std::string host_origin(const SettingValue& given);

}  // namespace skua::cli
