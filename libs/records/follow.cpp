#include "records/follow.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

Follow Follow::decode(FieldReader& fields) {
  Follow follow;
  follow.subject = fields.did("subject");
  follow.via = fields.optional_strong_ref("via");
  follow.created_at = fields.datetime("createdAt");
  return follow;
}

}  // namespace skua::records
