#include "atproto/base64.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <openssl/evp.h>

namespace skua::atproto {
namespace {

/// OpenSSL skips blanks at both ends and `-` at the end, and reads `=` as zero bits at any
/// position. It refuses all other characters outside of the alphabet.
bool openssl_accepts_wrongly(char c) {
  return c <= ' ' || c == '-' || c == '=';
}

}  // namespace

void append_base64(std::string& out, ByteView bytes) {
  const std::size_t begin = out.size();
  const std::size_t unpadded = (bytes.size() * 4 + 2) / 3;
  out.resize(begin + (bytes.size() + 2) / 3 * 4 + 1);  // OpenSSL appends a NUL
  ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data() + begin), bytes.data(),
                    static_cast<int>(bytes.size()));
  out.resize(begin + unpadded);
}

std::optional<Bytes> parse_base64(std::string_view text) {
  if (text.ends_with("==")) {
    text.remove_suffix(2);
  } else if (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  if (text.size() % 4 == 1 || text.size() > std::numeric_limits<int>::max() - 3U ||
      std::any_of(text.begin(), text.end(), openssl_accepts_wrongly)) {
    return std::nullopt;
  }
  // OpenSSL reads only whole groups of four characters. `A` stands for six zero bits.
  std::string groups(text);
  groups.append((4 - text.size() % 4) % 4, 'A');
  Bytes bytes(groups.size() / 4 * 3);
  if (::EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(groups.data()),
                        static_cast<int>(groups.size())) < 0) {
    return std::nullopt;
  }
  bytes.resize(text.size() * 3 / 4);
  return bytes;
}

}  // namespace skua::atproto
