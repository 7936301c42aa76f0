#include "records/postgate.hpp"

#include "records/field_reader.hpp"
#include "records/post.hpp"

namespace skua::records {

Postgate Postgate::decode(FieldReader& fields) {
  Postgate gate;
  gate.post = fields.record_uri("post", Post::kCollection);
  gate.created_at = fields.datetime("createdAt");
  gate.detached_uris = fields.optional_texts("detachedEmbeddingUris", FieldReader::Format::AtUri);

  bool whole = true;
  fields.each_union_object("embeddingRules", [&](FieldReader& rule) {
    if (rule.type() == "app.bsky.feed.postgate#disableRule") {
      gate.embedding_disabled = true;
    } else {
      whole = false;
    }
    whole = whole && rule.complete();
  });
  if (!whole) fields.keep("embeddingRules");
  return gate;
}

}  // namespace skua::records
