#include "records/declarations.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

ChatDeclaration ChatDeclaration::decode(FieldReader& fields) {
  ChatDeclaration declaration;
  declaration.allow_incoming = fields.text("allowIncoming");
  return declaration;
}

NotificationDeclaration NotificationDeclaration::decode(FieldReader& fields) {
  NotificationDeclaration declaration;
  declaration.allow_subscriptions = fields.text("allowSubscriptions");
  return declaration;
}

GermDeclaration GermDeclaration::decode(FieldReader& fields) {
  GermDeclaration declaration;
  declaration.version = fields.text("version");
  declaration.current_key = fields.bytes("currentKey");
  return declaration;
}

VisibilityDeclaration VisibilityDeclaration::decode(FieldReader& fields) {
  constexpr std::string_view kHide = "hideFromAlgorithmicRecommendations";
  VisibilityDeclaration declaration;
  fields.require(kHide);
  declaration.hide_from_algorithmic_recommendations = fields.optional_boolean(kHide);
  return declaration;
}

}  // namespace skua::records
