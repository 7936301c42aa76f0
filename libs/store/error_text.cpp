#include "store/error_text.hpp"

#include "base/utf8.hpp"

namespace skua::store {

std::string error_text(std::string_view message) {
  return printable(message, 500);
}

}  // namespace skua::store
