#include "records/labeler.hpp"

#include "records/field_reader.hpp"

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
