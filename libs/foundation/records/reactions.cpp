#include "records/reactions.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

Like Like::decode(FieldReader& fields) {
  Like like;
  like.subject = fields.strong_ref("subject");
  like.via = fields.optional_strong_ref("via", Repost::kCollection);
  like.created_at = fields.datetime("createdAt");
  return like;
}

Repost Repost::decode(FieldReader& fields) {
  Repost repost;
  repost.subject = fields.strong_ref("subject");
  repost.via = fields.optional_strong_ref("via", kCollection);
  repost.created_at = fields.datetime("createdAt");
  return repost;
}

}  // namespace skua::records
