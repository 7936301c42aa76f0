#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "records/reference.hpp"

namespace skua::records {

/// One feature of a rich text facet (app.bsky.richtext.facet), which gives the meaning of the bytes
/// [byte_start, byte_end) of the text. A facet with several features becomes several Facets.
struct Facet {
  enum class Kind : std::uint8_t { Mention, Link, Tag };

  std::int64_t byte_start = 0;
  std::int64_t byte_end = 0;
  Kind kind = Kind::Mention;
  /// The mentioned DID, the link's URI, or the tag without `#`.
  std::string_view value;
};

class FieldReader;

/// Reads and checks an optional list of app.bsky.richtext.facet. Features of an unknown type are
/// legal and are ignored.
std::vector<Facet> read_facets(FieldReader& fields, std::string_view key);

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

/// A video of app.bsky.embed.video.
struct EmbeddedVideo {
  Blob video;
  std::vector<EmbeddedCaption> captions;
  std::optional<std::string_view> alt;
  std::optional<AspectRatio> aspect_ratio;
};

/// A link card of app.bsky.embed.external.
struct EmbeddedExternal {
  std::string_view uri;
  std::string_view title;
  std::string_view description;
  std::optional<Blob> thumb;
};

/// The embed of a post, except another record (see `Post::quote`). At most one member is set. No
/// member is set for a plain quote and for an unknown type of embed.
struct Embed {
  std::vector<EmbeddedImage> images;
  /// `video` and `external` have at most one element each. They are vectors because an empty vector
  /// is smaller than the struct, and most posts have neither.
  std::vector<EmbeddedVideo> video;
  std::vector<EmbeddedExternal> external;
};

/// Reads and checks a post's optional `embed` and returns the record that the embed quotes, if any.
/// An embed of an unknown type is legal and is ignored.
std::optional<RecordRef> read_post_embed(FieldReader& fields, Embed& embed);

/// Checks a status's optional `embed`. Only app.bsky.embed.external is known there.
void read_external_embed(FieldReader& fields);

}  // namespace skua::records
