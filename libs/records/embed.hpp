#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "records/blob.hpp"

namespace skua::records {

struct AspectRatio {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

/// An image of app.bsky.embed.images or app.bsky.embed.gallery.
struct EmbeddedImage {
  Blob image;
  std::string_view alt;
  std::optional<AspectRatio> aspect_ratio;
};

struct EmbeddedCaption {
  std::string_view lang;
  Blob file;
};

/// app.bsky.embed.video.
struct EmbeddedVideo {
  Blob video;
  std::vector<EmbeddedCaption> captions;
  std::optional<std::string_view> alt;
  std::optional<AspectRatio> aspect_ratio;
};

/// app.bsky.embed.external: a link card.
struct EmbeddedExternal {
  std::string_view uri;
  std::string_view title;
  std::string_view description;
  std::optional<Blob> thumb;
};

/// The embed of a post, except another record (see `Post::quote`). At most one member is set; none
/// for a plain quote and for an unknown type of embed.
struct Embed {
  std::vector<EmbeddedImage> images;
  /// None or one. Vectors, because they keep the struct of the many posts without them small.
  std::vector<EmbeddedVideo> video;
  std::vector<EmbeddedExternal> external;
};

}  // namespace skua::records
