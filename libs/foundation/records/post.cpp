#include "records/post.hpp"

#include "records/field_reader.hpp"
#include "records/post_content.hpp"
#include "records/post_parts.hpp"

namespace skua::records {
namespace {

void read_reply(FieldReader& fields, Post& post) {
  auto reply = fields.optional_object("reply");
  if (!reply) return;
  post.root = reply->strong_ref("root", Post::kCollection);
  post.parent = reply->strong_ref("parent", Post::kCollection);
  if (!reply->complete()) fields.keep("reply");
}

/// Checks `entities`, the older form of facets. Entities have no column and stay in `extra`, but
/// they must be well-formed.
void check_entities(FieldReader& fields) {
  const bool present = fields.each_object("entities", [](FieldReader& entity) {
    if (auto index = entity.object("index")) {
      index->integer("start");
      index->integer("end");
    }
    entity.text("type");
    entity.text("value");
  });
  if (present) fields.keep("entities");
}

}  // namespace

Post Post::decode(FieldReader& fields) {
  Post post;
  post.text = fields.text("text");
  post.created_at = fields.datetime("createdAt");
  post.langs = fields.optional_texts("langs");
  post.tags = fields.optional_texts("tags");
  post.labels = fields.optional_self_labels("labels");
  read_reply(fields, post);
  check_entities(fields);
  post.facets = read_facets(fields, "facets");
  post.facets_json = fields.json("facets");
  post.quote = read_post_embed(fields, post.embed);
  post.embed_json = fields.json("embed");
  fill_content(post);
  return post;
}

}  // namespace skua::records
