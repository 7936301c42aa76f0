#include "records/list_item.hpp"

#include "records/field_reader.hpp"
#include "records/list.hpp"

namespace skua::records {

ListItem ListItem::decode(FieldReader& fields) {
  ListItem item;
  item.subject = fields.did("subject");
  item.list = fields.record_uri("list", List::kCollection);
  item.created_at = fields.datetime("createdAt");
  return item;
}

}  // namespace skua::records
