#include "transport/errc.hpp"

#include <string>

namespace skua::transport {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "skua.transport"; }

  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::url_empty:
        return "the address is empty: give a host name or a URL such as wss://relay.example";
      case errc::url_scheme:
        return "the scheme must be ws, wss, http or https";
      case errc::url_host:
        return "the host is missing or is no host name";
      case errc::url_port:
        return "the port must be a number from 1 to 65535";
      case errc::url_credentials:
        return "a user name or password in the address is not supported";
      case errc::url_path:
        return "the path has a blank, a control character or a #fragment";
      case errc::url_cursor:
        return "the address must not hold a cursor: it is given apart";
      case errc::capture_frame_too_large:
        return "a frame's length is over the limit: damaged, or no capture";
      case errc::host_not_found:
        return "host not found";
      case errc::host_lookup_failed:
        return "the host name cannot be looked up now";
    }
    return "unknown transport error";
  }
};

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const Category category;
  return {static_cast<int>(e), category};
}

}  // namespace skua::transport
