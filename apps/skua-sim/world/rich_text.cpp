#include "rich_text.hpp"

#include <utility>

namespace skua::sim {

void RichText::facet(std::string_view shown, nlohmann::json feature) {
  if (!text_.empty()) text_ += ' ';
  const std::size_t begin = text_.size();
  text_ += shown;
  facets_.push_back({{"index", {{"byteStart", begin}, {"byteEnd", text_.size()}}},
                     {"features", nlohmann::json::array({std::move(feature)})}});
}

void RichText::mention(std::string_view handle, const std::string& did) {
  facet("@" + std::string(handle), {{"$type", "app.bsky.richtext.facet#mention"}, {"did", did}});
}

void RichText::link(const std::string& uri) {
  // As clients show it: without the scheme, and shortened.
  constexpr std::size_t kShown = 24;
  std::string shown = uri.substr(uri.find("//") + 2);
  if (shown.size() > kShown) shown = shown.substr(0, kShown) + "...";
  facet(shown, {{"$type", "app.bsky.richtext.facet#link"}, {"uri", uri}});
}

void RichText::tag(std::string_view tag) {
  facet("#" + std::string(tag), {{"$type", "app.bsky.richtext.facet#tag"}, {"tag", tag}});
}

std::string random_link(Random& random) {
  std::string uri = "https://" + random_word(random, Script::latin) +
                    random_word(random, Script::latin) + ".example/";
  for (std::size_t parts = random.between(1, 6); parts > 0; --parts) {
    uri += random_word(random, Script::latin);
    uri += parts > 1 ? "-" : "";
  }
  if (random.chance(0.3)) uri += "?ref=" + std::to_string(random.below(100'000));
  return uri;
}

RichText random_rich_text(Random& random, const Subjects& subjects, Script script,
                          std::size_t bytes) {
  RichText text;
  const std::size_t features = random.chance(0.35) ? random.between(1, 2) : 0;
  text.words(random_text(random, script, bytes));
  for (std::size_t left = features; left > 0; --left) {
    switch (random.below(3)) {
      case 0:
        text.mention(random_word(random, Script::latin) + ".test", subjects.account(random));
        break;
      case 1:
        text.link(random_link(random));
        break;
      default:
        text.tag(random_word(random, script));
        break;
    }
  }
  if (features > 0 && random.chance(0.3)) {
    text.words(" ");
    text.words(random_word(random, script));
  }
  return text;
}

}  // namespace skua::sim
