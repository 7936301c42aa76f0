#include "records/like.hpp"

#include "records/field_reader.hpp"
#include "records/repost.hpp"

namespace skua::records {

Like Like::decode(FieldReader& fields) {
  Like like;
  like.subject = fields.strong_ref("subject");
  like.via = fields.optional_strong_ref("via", Repost::kCollection);
  like.created_at = fields.datetime("createdAt");
  return like;
}

}  // namespace skua::records
