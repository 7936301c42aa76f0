#include "transport/basic_authorization.hpp"

#include <cstddef>

#include <openssl/evp.h>

namespace skua::transport {

std::string basic_authorization(std::string_view user, std::string_view password) {
  std::string plain(user);
  plain.append(1, ':').append(password);
  std::string encoded((plain.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL appends a NUL
  const int length = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                       reinterpret_cast<const unsigned char*>(plain.data()),
                                       static_cast<int>(plain.size()));
  encoded.resize(static_cast<std::size_t>(length));
  return "Basic " + encoded;
}

}  // namespace skua::transport
