#include "records/post_content.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "records/post.hpp"

namespace skua::records {

namespace {

/// A range of letters with the same case rule: each `step`-th letter from `first` to `last` becomes
/// the letter `offset` after it. bsky.normal_tag has the same letters.
struct CaseRange {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t step;
  std::int32_t offset;
};

constexpr std::array<CaseRange, 32> kRanges = {{
    {0x41, 0x5a, 1, 32},    {0xc0, 0xd6, 1, 32},     {0xd8, 0xde, 1, 32},
    {0x100, 0x12e, 2, 1},   {0x132, 0x136, 2, 1},    {0x139, 0x147, 2, 1},
    {0x14a, 0x176, 2, 1},   {0x178, 0x178, 1, -121}, {0x179, 0x17d, 2, 1},
    {0x1a0, 0x1a0, 1, 1},   {0x1af, 0x1af, 1, 1},    {0x1cd, 0x1db, 2, 1},
    {0x1f8, 0x21e, 2, 1},   {0x386, 0x386, 1, 38},   {0x388, 0x38a, 1, 37},
    {0x38c, 0x38c, 1, 64},  {0x38e, 0x38f, 1, 63},   {0x391, 0x3a1, 1, 32},
    {0x3a3, 0x3ab, 1, 32},  {0x3c2, 0x3c2, 1, 1},    {0x400, 0x40f, 1, 80},
    {0x410, 0x42f, 1, 32},  {0x460, 0x480, 2, 1},    {0x48a, 0x4be, 2, 1},
    {0x4c0, 0x4c0, 1, 15},  {0x4c1, 0x4cd, 2, 1},    {0x4d0, 0x52e, 2, 1},
    {0x531, 0x556, 1, 48},  {0x1e00, 0x1e94, 2, 1},  {0x1e9e, 0x1e9e, 1, -7615},
    {0x1ea0, 0x1efe, 2, 1}, {0xff21, 0xff3a, 1, 32},
}};

std::uint32_t lower(std::uint32_t c) {
  const auto* range = std::find_if(kRanges.begin(), kRanges.end(),
                                   [&](const CaseRange& one) { return c <= one.last; });
  if (range == kRanges.end() || c < range->first || (c - range->first) % range->step != 0) return c;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(c) + range->offset);
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x800) {
    out += static_cast<char>(0xc0U | c >> 6U);
  } else {
    out += static_cast<char>(0xe0U | c >> 12U);
    out += static_cast<char>(0x80U | (c >> 6U & 0x3fU));
  }
  out += static_cast<char>(0x80U | (c & 0x3fU));
}

/// Appends the lower case of the first character of `text`, which is not empty, and returns the
/// character's length. A byte that does not begin a sequence of two or three bytes is appended
/// unchanged.
std::size_t append_lower(std::string& out, std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const auto continues = [&](std::size_t i) {
    return i < text.size() && (byte(i) & 0xc0U) == 0x80U;
  };
  const std::uint32_t lead = byte(0);
  if (lead >= 0xc2 && lead < 0xe0 && continues(1)) {
    append_utf8(out, lower((lead & 0x1fU) << 6U | (byte(1) & 0x3fU)));
    return 2;
  }
  if (lead >= 0xe1 && lead < 0xf0 && continues(1) && continues(2)) {
    append_utf8(out, lower((lead & 0xfU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU)));
    return 3;
  }
  out += ascii_lower(text[0]);
  return 1;
}

/// The length of the longest name in DNS.
constexpr std::size_t kMaxHost = 253;

/// Returns the part of `uri` after `http://` or `https://`, or an empty text if `uri` has another
/// scheme.
std::string_view after_scheme(std::string_view uri) {
  const std::size_t colon = uri.substr(0, 6).find(':');
  if (colon == std::string_view::npos || uri.substr(colon + 1, 2) != "//") return {};
  const std::string scheme = ascii_lower(uri.substr(0, colon));
  return scheme == "https" || scheme == "http" ? uri.substr(colon + 3) : std::string_view{};
}

// Beyond these limits the first values are kept, in the order of the record: first the values of
// the text, then those of the field `tags` or of the link card. Values up to these lengths fit into
// a GIN index.
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
  // An alternative text that has only NULs counts as empty, because a column keeps no NULs.
  return image.alt.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

std::string normal_tag(std::string_view tag) {
  std::string normal;
  normal.reserve(tag.size());
  while (!tag.empty()) {
    if (tag[0] == '\0' || (tag[0] == '#' && normal.empty())) {
      tag.remove_prefix(1);
    } else {
      tag.remove_prefix(append_lower(normal, tag));
    }
  }
  return normal;
}

std::string link_host(std::string_view uri) {
  // A backslash ends the host, because browsers read a backslash as a slash.
  std::string_view host = after_scheme(uri);
  host = host.substr(0, host.find_first_of("/\\?#"));
  host.remove_prefix(host.rfind('@') + 1);
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    host = host.substr(0, end + 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  return host.size() <= kMaxHost ? ascii_lower(host) : std::string{};
}

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
