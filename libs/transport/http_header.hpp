#pragma once

#include <string>
#include <string_view>

namespace skua::transport {

/// An additional field of an HTTP request head.
struct HttpHeader {
  std::string name;
  std::string value;
};

/// False: it would break the request, or inject another field.
inline bool is_one_line(const HttpHeader& header) {
  constexpr std::string_view kBreaks("\r\n\0", 3);
  return !header.name.empty() && header.name.find_first_of(kBreaks) == std::string::npos &&
         header.value.find_first_of(kBreaks) == std::string::npos;
}

}  // namespace skua::transport
