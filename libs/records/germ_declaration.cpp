#include "records/germ_declaration.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

GermDeclaration GermDeclaration::decode(FieldReader& fields) {
  GermDeclaration declaration;
  declaration.version = fields.text("version");
  declaration.current_key = fields.bytes("currentKey");
  return declaration;
}

}  // namespace skua::records
