#include "base/seeded_hash.hpp"

#include <random>

namespace skua::seeded_hash_detail {

Seeds Seeds::draw() {
  std::random_device source;
  const auto word = [&] { return std::uint64_t{source()} << 32U | source(); };
  return {.first = word(), .second = word()};
}

}  // namespace skua::seeded_hash_detail
