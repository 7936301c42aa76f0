#include "records/post_content.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "records/link_host.hpp"
#include "records/normal_tag.hpp"
#include "records/post.hpp"

namespace skua::records {
namespace {

// The first values count, in the order of the record: those of the text, then those of the field
// tags or of the link card. Values of these lengths fit into a GIN index.
constexpr std::size_t kMaxMentions = 20;
constexpr std::size_t kMaxTags = 50;
constexpr std::size_t kMaxTag = 640;
constexpr std::size_t kMaxLinks = 50;
constexpr std::size_t kMaxLink = 2048;

template <class List, class Value>
bool has(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

void add_mention(Post& post, std::string_view did) {
  if (post.mentions.size() == kMaxMentions) return;
  const bool is_known = std::any_of(post.mentions.begin(), post.mentions.end(),
                                    [&](const ActorRef& other) { return other.did == did; });
  if (!is_known) post.mentions.push_back({did, 0});
}

void add_tag(Post& post, std::string_view tag) {
  if (post.all_tags.size() == kMaxTags) return;
  std::string normal = normal_tag(tag);
  if (normal.empty() || normal.size() > kMaxTag || has(post.all_tags, normal)) return;
  post.all_tags.push_back(std::move(normal));
}

void add_link(Post& post, std::string_view uri) {
  if (post.links.size() == kMaxLinks || uri.size() > kMaxLink || has(post.links, uri)) return;
  post.links.push_back(uri);
  std::string host = link_host(uri);
  if (!host.empty() && !has(post.link_hosts, host)) post.link_hosts.push_back(std::move(host));
}

bool lacks_alt(const EmbeddedImage& image) {
  // A column keeps no NULs.
  return image.alt.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

void fill_content(Post& post) {
  for (const Facet& facet : post.facets) {
    switch (facet.kind) {
      case Facet::Kind::Mention:
        add_mention(post, facet.value);
        break;
      case Facet::Kind::Link:
        add_link(post, facet.value);
        break;
      case Facet::Kind::Tag:
        add_tag(post, facet.value);
        break;
    }
  }
  if (post.tags) {
    for (const std::string_view tag : *post.tags) add_tag(post, tag);
  }
  for (const EmbeddedExternal& card : post.embed.external) add_link(post, card.uri);
  const auto& images = post.embed.images;
  if (!images.empty()) {
    post.images_without_alt =
        static_cast<std::int32_t>(std::count_if(images.begin(), images.end(), lacks_alt));
  }
  if (!post.embed.video.empty()) post.has_video = true;
}

}  // namespace skua::records
