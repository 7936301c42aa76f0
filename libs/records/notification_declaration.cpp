#include "records/notification_declaration.hpp"

#include "records/field_reader.hpp"

namespace skua::records {

NotificationDeclaration NotificationDeclaration::decode(FieldReader& fields) {
  NotificationDeclaration declaration;
  declaration.allow_subscriptions = fields.text("allowSubscriptions");
  return declaration;
}

}  // namespace skua::records
