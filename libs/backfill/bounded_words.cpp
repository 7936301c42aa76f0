#include "backfill/bounded_words.hpp"

#include "base/utf8.hpp"

namespace skua::backfill {

std::string bounded_words(std::string_view words) {
  return printable(words, 500);
}

}  // namespace skua::backfill
