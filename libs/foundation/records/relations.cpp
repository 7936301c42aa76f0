#include "records/relations.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

Follow Follow::decode(FieldReader& fields) {
  Follow follow;
  follow.subject = fields.did("subject");
  follow.via = fields.optional_strong_ref("via");
  follow.created_at = fields.datetime("createdAt");
  return follow;
}

Block Block::decode(FieldReader& fields) {
  Block block;
  block.subject = fields.did("subject");
  block.created_at = fields.datetime("createdAt");
  return block;
}

Verification Verification::decode(FieldReader& fields) {
  Verification verification;
  verification.subject = fields.did("subject");
  verification.handle = fields.text("handle");
  verification.display_name = fields.text("displayName");
  verification.created_at = fields.datetime("createdAt");
  return verification;
}

}  // namespace skua::records
