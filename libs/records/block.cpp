#include "records/block.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

Block Block::decode(FieldReader& fields) {
  Block block;
  block.subject = fields.did("subject");
  block.created_at = fields.datetime("createdAt");
  return block;
}

}  // namespace skua::records
