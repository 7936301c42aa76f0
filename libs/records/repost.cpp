#include "records/repost.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

Repost Repost::decode(FieldReader& fields) {
  Repost repost;
  repost.subject = fields.strong_ref("subject");
  repost.via = fields.optional_strong_ref("via", kCollection);
  repost.created_at = fields.datetime("createdAt");
  return repost;
}

}  // namespace skua::records
