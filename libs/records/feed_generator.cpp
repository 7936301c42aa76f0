#include "records/feed_generator.hpp"

#include "records/facet_reader.hpp"
#include "records/field_reader.hpp"

namespace skua::records {

FeedGenerator FeedGenerator::decode(FieldReader& fields) {
  FeedGenerator generator;
  generator.service_did = fields.text("did", FieldReader::Format::Did);
  generator.display_name = fields.text("displayName");
  generator.created_at = fields.datetime("createdAt");
  generator.description = fields.optional_text("description");
  read_facets(fields, "descriptionFacets");
  generator.description_facets_json = fields.json("descriptionFacets");
  generator.avatar = fields.optional_blob("avatar");
  generator.accepts_interactions = fields.optional_boolean("acceptsInteractions");
  generator.content_mode = fields.optional_text("contentMode");
  generator.labels = fields.optional_self_labels("labels");
  return generator;
}

}  // namespace skua::records
