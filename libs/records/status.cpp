#include "records/status.hpp"

#include "records/embed_reader.hpp"
#include "records/field_reader.hpp"

namespace skua::records {

Status Status::decode(FieldReader& fields) {
  Status status;
  status.status = fields.text("status");
  status.created_at = fields.datetime("createdAt");
  status.duration_minutes = fields.optional_integer("durationMinutes");
  read_external_embed(fields);
  status.embed_json = fields.json("embed");
  return status;
}

}  // namespace skua::records
