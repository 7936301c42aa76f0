#include "transport/basic_authorization.hpp"

#include "atproto/base64.hpp"

namespace skua::transport {

std::string basic_authorization(std::string_view user, std::string_view password) {
  std::string plain(user);
  plain.append(1, ':').append(password);
  std::string value = "Basic ";
  atproto::append_base64(value, as_bytes(plain));
  value.append((3 - plain.size() % 3) % 3, '=');
  return value;
}

}  // namespace skua::transport
