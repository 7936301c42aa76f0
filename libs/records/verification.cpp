#include "records/verification.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

Verification Verification::decode(FieldReader& fields) {
  Verification verification;
  verification.subject = fields.did("subject");
  verification.handle = fields.text("handle");
  verification.display_name = fields.text("displayName");
  verification.created_at = fields.datetime("createdAt");
  return verification;
}

}  // namespace skua::records
