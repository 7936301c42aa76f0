#include "records/declarations.hpp"

#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::ChatDeclaration;

template <>
const TableDefinition<ChatDeclaration>& table_definition<ChatDeclaration>() {
  static const auto kColumns =
      ColumnList<ChatDeclaration>().column<&ChatDeclaration::allow_incoming>("allow_incoming");
  static const TableDefinition<ChatDeclaration> kTable("chat_declarations", kColumns);
  return kTable;
}

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

using records::GermDeclaration;

template <>
const TableDefinition<GermDeclaration>& table_definition<GermDeclaration>() {
  static const auto kColumns = ColumnList<GermDeclaration>()
                                   .column<&GermDeclaration::version>("version")
                                   .column<&GermDeclaration::current_key>("current_key");
  static const TableDefinition<GermDeclaration> kTable("germ_declarations", kColumns);
  return kTable;
}

using records::VisibilityDeclaration;

template <>
const TableDefinition<VisibilityDeclaration>& table_definition<VisibilityDeclaration>() {
  static const auto kColumns =
      ColumnList<VisibilityDeclaration>()
          .column<&VisibilityDeclaration::hide_from_algorithmic_recommendations>(
              "hide_from_algorithmic_recommendations");
  static const TableDefinition<VisibilityDeclaration> kTable("visibility_declarations", kColumns);
  return kTable;
}

}  // namespace skua::writer
