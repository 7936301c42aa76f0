#include "records/gates.hpp"

#include <cstddef>
#include <cstdint>
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
  // The columns do not have the order of the rules: `bsky.record_json` returns the rules in the
  // order of `Rule`.
  enum class Rule : std::uint8_t { None, Mention, Following, Follower, List };
  Rule last = Rule::None;
  bool whole = true;
  const auto take = [&](Rule rule) {
    whole = whole && (last < rule || (last == rule && rule == Rule::List));
    last = rule;
  };
  gate.is_restricted = fields.each_union_object("allow", [&](FieldReader& rule) {
    if (rule.type() == "app.bsky.feed.threadgate#mentionRule") {
      gate.allow_mentioned = true;
      take(Rule::Mention);
    } else if (rule.type() == "app.bsky.feed.threadgate#followingRule") {
      gate.allow_following = true;
      take(Rule::Following);
    } else if (rule.type() == "app.bsky.feed.threadgate#followerRule") {
      gate.allow_followers = true;
      take(Rule::Follower);
    } else if (rule.type() == "app.bsky.feed.threadgate#listRule") {
      lists.push_back(rule.text("list", FieldReader::Format::AtUri));
      take(Rule::List);
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

  // The column tells one rule from none; an empty list and a repeated rule stay in `extra`.
  std::size_t rules = 0;
  bool whole = true;
  fields.each_union_object("embeddingRules", [&](FieldReader& rule) {
    ++rules;
    if (rule.type() == "app.bsky.feed.postgate#disableRule") {
      gate.embedding_disabled = true;
    } else {
      whole = false;
    }
    whole = whole && rule.complete();
  });
  if (!whole || rules != 1) fields.keep("embeddingRules");
  return gate;
}

}  // namespace skua::records
