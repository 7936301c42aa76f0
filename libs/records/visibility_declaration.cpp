#include "records/visibility_declaration.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

VisibilityDeclaration VisibilityDeclaration::decode(FieldReader& fields) {
  constexpr std::string_view kHide = "hideFromAlgorithmicRecommendations";
  VisibilityDeclaration declaration;
  fields.require(kHide);
  declaration.hide_from_algorithmic_recommendations = fields.optional_boolean(kHide);
  return declaration;
}

}  // namespace skua::records
