#include "records/gates.hpp"

#include <utility>

#include "records/field_reader.hpp"
#include "records/post.hpp"

namespace skua::records {

Threadgate Threadgate::decode(FieldReader& fields) {
  Threadgate gate;
  gate.post = fields.record_uri("post", Post::kCollection);
  gate.created_at = fields.datetime("createdAt");
  gate.hidden_replies = fields.optional_texts("hiddenReplies", FieldReader::Format::AtUri);

  TextList lists;
  bool whole = true;
  gate.is_restricted = fields.each_union_object("allow", [&](FieldReader& rule) {
    if (rule.type() == "app.bsky.feed.threadgate#mentionRule") {
      gate.allow_mentioned = true;
    } else if (rule.type() == "app.bsky.feed.threadgate#followingRule") {
      gate.allow_following = true;
    } else if (rule.type() == "app.bsky.feed.threadgate#followerRule") {
      gate.allow_followers = true;
    } else if (rule.type() == "app.bsky.feed.threadgate#listRule") {
      lists.push_back(rule.text("list", FieldReader::Format::AtUri));
    } else {
      whole = false;
    }
    whole = whole && rule.complete();
  });
  if (!lists.empty()) gate.allow_lists = std::move(lists);
  if (!whole) fields.keep("allow");
  return gate;
}

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
