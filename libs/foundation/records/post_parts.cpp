#include "records/post_parts.hpp"

#include <utility>

#include "records/field_reader.hpp"

namespace skua::records {

namespace {

std::optional<AspectRatio> read_aspect_ratio(std::optional<FieldReader> ratio) {
  if (!ratio) return std::nullopt;
  AspectRatio read;
  read.width = ratio->integer("width");
  read.height = ratio->integer("height");
  return read;
}

void read_image(FieldReader& image, bool ratio_required, Embed& embed) {
  EmbeddedImage read;
  read.image = image.blob("image");
  read.alt = image.text("alt");
  read.aspect_ratio = read_aspect_ratio(ratio_required ? image.object("aspectRatio")
                                                       : image.optional_object("aspectRatio"));
  embed.images.push_back(read);
}

void read_images(FieldReader& object, Embed& embed) {
  object.require("images");
  object.each_object("images", [&](FieldReader& image) { read_image(image, false, embed); });
}

void read_gallery(FieldReader& object, Embed& embed) {
  object.require("items");
  object.each_union_object("items", [&](FieldReader& item) {
    if (item.type() == "app.bsky.embed.gallery#image") read_image(item, true, embed);
  });
}

void read_video(FieldReader& object, Embed& embed) {
  EmbeddedVideo video;
  video.video = object.blob("video");
  object.each_object("captions", [&](FieldReader& caption) {
    EmbeddedCaption read;
    read.lang = caption.text("lang");
    read.file = caption.blob("file");
    video.captions.push_back(read);
  });
  video.alt = object.optional_text("alt");
  video.aspect_ratio = read_aspect_ratio(object.optional_object("aspectRatio"));
  object.optional_text("presentation");
  embed.video.push_back(std::move(video));
}

void read_external(FieldReader& object, Embed& embed) {
  auto card = object.object("external");
  if (!card) return;
  EmbeddedExternal external;
  external.uri = card->text("uri", FieldReader::Format::Uri);
  external.title = card->text("title");
  external.description = card->text("description");
  external.thumb = card->optional_blob("thumb");
  card->each_object("associatedRefs", [](FieldReader& reference) {
    reference.text("uri", FieldReader::Format::AtUri);
    reference.text("cid");
  });
  embed.external.push_back(external);
}

void read_media(FieldReader& media, Embed& embed) {
  const std::string_view type = media.type();
  if (type == "app.bsky.embed.images") {
    read_images(media, embed);
  } else if (type == "app.bsky.embed.video") {
    read_video(media, embed);
  } else if (type == "app.bsky.embed.external") {
    read_external(media, embed);
  } else if (type == "app.bsky.embed.gallery") {
    read_gallery(media, embed);
  }
}

}  // namespace

std::vector<Facet> read_facets(FieldReader& fields, std::string_view key) {
  std::vector<Facet> facets;
  fields.each_object(key, [&](FieldReader& facet) {
    Facet read;
    if (auto index = facet.object("index")) {
      read.byte_start = index->integer("byteStart");
      read.byte_end = index->integer("byteEnd");
    }
    facet.require("features");
    facet.each_union_object("features", [&](FieldReader& feature) {
      if (feature.type() == "app.bsky.richtext.facet#mention") {
        read.kind = Facet::Kind::Mention;
        read.value = feature.text("did", FieldReader::Format::Did);
      } else if (feature.type() == "app.bsky.richtext.facet#link") {
        read.kind = Facet::Kind::Link;
        read.value = feature.text("uri", FieldReader::Format::Uri);
      } else if (feature.type() == "app.bsky.richtext.facet#tag") {
        read.kind = Facet::Kind::Tag;
        read.value = feature.text("tag");
      } else {
        return;
      }
      facets.push_back(read);
    });
  });
  return facets;
}

std::optional<RecordRef> read_post_embed(FieldReader& fields, Embed& embed) {
  auto object = fields.optional_union_object("embed");
  if (!object) return std::nullopt;
  if (object->type() == "app.bsky.embed.record") return object->strong_ref("record");
  if (object->type() == "app.bsky.embed.recordWithMedia") {
    if (auto media = object->union_object("media")) read_media(*media, embed);
    auto record = object->object("record");
    return record ? record->strong_ref("record") : std::nullopt;
  }
  read_media(*object, embed);
  return std::nullopt;
}

void read_external_embed(FieldReader& fields) {
  Embed embed;
  auto object = fields.optional_union_object("embed");
  if (object && object->type() == "app.bsky.embed.external") read_external(*object, embed);
}

}  // namespace skua::records
