#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "language.hpp"
#include "random.hpp"

namespace skua::sim {

/// The language and the topic of texts. Both follow from a DID or a URI, so that all posts of a
/// thread are in one language and about one topic, and nothing has to be remembered.
struct Theme {
  const Language* language;
  std::size_t topic;

  std::string make(Text kind, Random& random) const { return language->make(kind, random, topic); }
  const std::string& hashtag() const { return language->hashtag(topic); }
};

/// The language in which an account writes.
const Language& language_of_account(std::string_view did);
/// Its language and its favourite topic.
Theme theme_of_account(std::string_view did);
/// What a thread is about: the theme of the account that started it, or another topic in its
/// language. `root`: the URI of the first post.
Theme theme_of_thread(std::string_view root);
/// A theme for anything else, in the language of an account.
Theme random_theme(Random& random, std::string_view did);
/// The display name of an account.
std::string display_name_of(std::string_view did);

}  // namespace skua::sim
