#include "world/rich_text.hpp"

#include <array>
#include <utility>

#include "world/language.hpp"

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
  // The shown text of a link is that of clients: without the scheme, and shortened.
  constexpr std::size_t kShown = 24;
  std::string shown = uri.substr(uri.find("//") + 2);
  if (shown.size() > kShown) shown = shown.substr(0, kShown) + "...";
  facet(shown, {{"$type", "app.bsky.richtext.facet#link"}, {"uri", uri}});
}

void RichText::tag(std::string_view tag) {
  facet("#" + std::string(tag), {{"$type", "app.bsky.richtext.facet#tag"}, {"tag", tag}});
}

RichText random_rich_text(Random& random, const Subjects& subjects, const Theme& theme,
                          std::string_view words) {
  RichText text;
  const auto mention = [&] {
    const KnownAccount account = subjects.account_with_handle(random);
    text.mention(account.handle, account.did);
  };
  const std::size_t features = random.chance(0.35) ? random.between(1, 2) : 0;
  const bool begins_with_mention = features > 0 && random.chance(0.2);
  if (begins_with_mention) {
    mention();
    text.words(" ");
  }
  text.words(words);
  // The features after the words have different kinds; hashtags are the most frequent.
  constexpr std::array kShares = {2.0, 1.0, 1.0};
  const std::size_t first = random.weighted(kShares);
  for (std::size_t i = begins_with_mention ? 1 : 0; i < features; ++i) {
    switch ((first + i) % kShares.size()) {
      case 0:
        text.tag(theme.hashtag());
        break;
      case 1:
        mention();
        break;
      default:
        text.link(random_link(random));
        break;
    }
  }
  if (!text.facets().empty() && random.chance(0.1)) {
    text.words(" ");
    text.words(theme.make(Text::emoji, random));
  }
  return text;
}

}  // namespace skua::sim
