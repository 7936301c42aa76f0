#include "base/count_text.hpp"

#include <fmt/format.h>

namespace skua {
namespace {

std::string plural_of(std::string_view noun) {
  constexpr std::string_view kVowels = "aeiou";
  const bool ends_in_y = noun.ends_with('y') && noun.size() > 1 &&
                         kVowels.find(noun[noun.size() - 2]) == std::string_view::npos;
  if (ends_in_y) return fmt::format("{}ies", noun.substr(0, noun.size() - 1));
  const bool hisses =
      noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("ch") || noun.ends_with("sh");
  return fmt::format("{}{}", noun, hisses ? "es" : "s");
}

}  // namespace

std::string noun_for(std::int64_t count, std::string_view noun) {
  return count == 1 ? std::string(noun) : plural_of(noun);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}", count, noun_for(count, noun));
}

}  // namespace skua
