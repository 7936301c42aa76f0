#include "records/notification_declaration.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::NotificationDeclaration;

template <>
const TableDefinition<NotificationDeclaration>& table_definition<NotificationDeclaration>() {
  static const auto kColumns =
      ColumnList<NotificationDeclaration>().column<&NotificationDeclaration::allow_subscriptions>(
          "allow_subscriptions");
  static const TableDefinition<NotificationDeclaration> kTable("notification_declarations",
                                                               kColumns);
  return kTable;
}

}  // namespace skua::writer
