#include "records/services.hpp"

#include "records/field_reader.hpp"
#include "records/post_parts.hpp"

namespace skua::records {

namespace {

void check_definition(FieldReader& definition) {
  definition.text("identifier");
  definition.text("severity");
  definition.text("blurs");
  definition.optional_text("defaultSetting");
  definition.optional_boolean("adultOnly");
  definition.require("locales");
  definition.each_object("locales", [](FieldReader& locale) {
    locale.text("lang");
    locale.text("name");
    locale.text("description");
  });
}

}  // namespace

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

Labeler Labeler::decode(FieldReader& fields) {
  Labeler labeler;
  if (auto policies = fields.object("policies")) {
    policies->texts("labelValues");
    policies->each_object("labelValueDefinitions", check_definition);
  }
  labeler.policies_json = fields.json("policies");
  labeler.labels = fields.optional_self_labels("labels");
  labeler.reason_types = fields.optional_texts("reasonTypes");
  labeler.subject_types = fields.optional_texts("subjectTypes");
  labeler.subject_collections = fields.optional_texts("subjectCollections");
  labeler.created_at = fields.datetime("createdAt");
  return labeler;
}

}  // namespace skua::records
