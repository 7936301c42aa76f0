#include "records/list.hpp"

#include "records/facet_reader.hpp"
#include "records/field_reader.hpp"

namespace skua::records {

List List::decode(FieldReader& fields) {
  List list;
  list.name = fields.text("name");
  list.purpose = fields.text("purpose");
  list.created_at = fields.datetime("createdAt");
  list.description = fields.optional_text("description");
  read_facets(fields, "descriptionFacets");
  list.description_facets_json = fields.json("descriptionFacets");
  list.avatar = fields.optional_blob("avatar");
  list.labels = fields.optional_self_labels("labels");
  return list;
}

}  // namespace skua::records
