#include "store/row_struct.hpp"

#include <fmt/format.h>

#include "store/sql_error.hpp"

namespace skua::store {
namespace {

bool fits(ColumnKind kind, TypeOid type) {
  switch (kind) {
    case ColumnKind::Int2:
      return type == oid::kInt2;
    case ColumnKind::Int4:
      return type == oid::kInt4 || type == oid::kInt2;
    case ColumnKind::Int8:
      return type == oid::kInt8 || type == oid::kInt4 || type == oid::kInt2 || type == oid::kOid;
    case ColumnKind::Boolean:
      return type == oid::kBool;
    case ColumnKind::Real:
      return type == oid::kFloat8 || type == oid::kFloat4;
    case ColumnKind::Bytes:
      return type == oid::kBytea;
    case ColumnKind::Time:
      return type == oid::kTimestamptz;
    case ColumnKind::Text:
      return type != oid::kInt2 && type != oid::kInt4 && type != oid::kInt8 && type != oid::kBool &&
             type != oid::kFloat4 && type != oid::kFloat8 && type != oid::kTimestamptz &&
             type != oid::kBytea;
  }
  return false;
}

}  // namespace

void check_column_count(const Rows& rows, std::size_t count) {
  if (rows.columns() == count) return;
  throw DefectError(
      fmt::format("the answer has {} columns, the program reads {}", rows.columns(), count), "");
}

void check_column(const Rows& rows, std::size_t column, ColumnKind kind) {
  const TypeOid type = rows.column_type(column);
  if (fits(kind, type)) return;
  throw DefectError(fmt::format("column '{}' of the answer is {}, which the program does not read",
                                rows.column_name(column), type_name(type)),
                    "");
}

}  // namespace skua::store
