#include "records/list_block.hpp"

#include "records/field_reader.hpp"
#include "records/list.hpp"

namespace skua::records {

ListBlock ListBlock::decode(FieldReader& fields) {
  ListBlock block;
  block.list = fields.record_uri("subject", List::kCollection);
  block.created_at = fields.datetime("createdAt");
  return block;
}

}  // namespace skua::records
