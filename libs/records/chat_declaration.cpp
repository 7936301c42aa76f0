#include "records/chat_declaration.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

ChatDeclaration ChatDeclaration::decode(FieldReader& fields) {
  ChatDeclaration declaration;
  declaration.allow_incoming = fields.text("allowIncoming");
  return declaration;
}

}  // namespace skua::records
