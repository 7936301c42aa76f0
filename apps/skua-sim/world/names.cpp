#include "names.hpp"

#include <string_view>

#include "language.hpp"

namespace skua::sim {
namespace {

std::string make(std::string_view section, Random& random) {
  const Phrases& phrases = common_phrases();
  return phrases.make(phrases.section(section), random, {});
}

}  // namespace

std::string random_name(Random& random) {
  return make("handle", random);
}

std::string random_word(Random& random) {
  return make("word", random);
}

std::string random_label(Random& random) {
  return make("label", random);
}

std::string random_domain(Random& random) {
  return make("site", random) + ".example";
}

std::string random_link(Random& random) {
  std::string uri = "https://" + random_domain(random) + "/" + make("slug", random);
  if (random.chance(0.3)) uri += "?ref=" + std::to_string(random.below(100'000));
  return uri;
}

}  // namespace skua::sim
