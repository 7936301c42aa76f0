#include "writer/tables/batch_columns.hpp"

namespace skua::writer {
namespace {

std::string type_name(store::Array::Type type) {
  using Type = store::Array::Type;
  switch (type) {
    case Type::int2:
      return "int2";
    case Type::int4:
      return "int4";
    case Type::int8:
      return "int8";
    case Type::boolean:
      return "boolean";
    case Type::text:
      return "text";
    case Type::bytea:
      return "bytea";
    case Type::timestamptz:
      return "timestamptz";
  }
  return {};
}

}  // namespace

void append_item(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

void ColumnLists::append(std::span<const BatchColumn> columns) {
  for (const BatchColumn& column : columns) {
    ++size;
    append_item(names, column.name);
    append_item(arrays, std::string("$").append(std::to_string(size)) +
                            "::" + type_name(column.type) + "[]");
    append_item(values, "u." + column.name + column.cast);
  }
}

}  // namespace skua::writer
