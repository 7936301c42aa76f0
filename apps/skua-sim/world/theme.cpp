#include "theme.hpp"

#include <algorithm>
#include <vector>

namespace skua::sim {
namespace {

/// The share of threads about the favourite topic of their author.
constexpr double kFavourite = 0.5;

/// `at://DID/...`
std::string_view account_in(std::string_view uri) {
  constexpr std::size_t kScheme = 5;
  uri.remove_prefix(std::min(kScheme, uri.size()));
  return uri.substr(0, uri.find('/'));
}

const Language& random_language(Random& random) {
  static const std::vector<double> shares = [] {
    std::vector<double> all;
    for (const Language& language : languages()) all.push_back(language.share());
    return all;
  }();
  return languages()[random.weighted(shares)];
}

}  // namespace

const Language& language_of_account(std::string_view did) {
  Random random = random_of(did);
  return random_language(random);
}

Theme theme_of_account(std::string_view did) {
  Random random = random_of(did);
  const Language& language = random_language(random);
  return {&language, random.below(language.topics())};
}

Theme theme_of_thread(std::string_view root) {
  const Theme favourite = theme_of_account(account_in(root));
  Random random = random_of(root);
  if (random.chance(kFavourite)) return favourite;
  return {favourite.language, random.below(favourite.language->topics())};
}

Theme random_theme(Random& random, std::string_view did) {
  const Language& language = language_of_account(did);
  return {&language, random.below(language.topics())};
}

std::string display_name_of(std::string_view did) {
  Random random = random_of(did);
  return theme_of_account(did).make(Text::name, random);
}

}  // namespace skua::sim
