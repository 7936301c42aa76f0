#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "records/reference.hpp"

namespace skua::records {

/// One feature of a rich text facet (app.bsky.richtext.facet): the meaning of the bytes
/// [byte_start, byte_end) of the text. A facet with several features becomes several of these.
struct Facet {
  enum class Kind : std::uint8_t { Mention, Link, Tag };

  std::int64_t byte_start = 0;
  std::int64_t byte_end = 0;
  Kind kind = Kind::Mention;
  /// The mentioned DID, the link's URI, or the tag without `#`.
  std::string_view value;
};

class FieldReader;

/// Reads and checks an optional list of app.bsky.richtext.facet. Features of a type not known here
/// are legal and give nothing.
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

/// Reads and checks a post's optional `embed` and gives the record that it quotes, if it does. A
/// type not known here is legal and gives nothing.
std::optional<RecordRef> read_post_embed(FieldReader& fields, Embed& embed);

/// Checks a status's optional `embed`, where only app.bsky.embed.external is known.
void read_external_embed(FieldReader& fields);

}  // namespace skua::records
