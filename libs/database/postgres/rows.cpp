#include "postgres/rows.hpp"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

#include "postgres/impl/rows_impl.hpp"
#include "postgres/sql_error.hpp"

namespace skua::postgres {

namespace {

template <class T>
T number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("the answer has no such number: '" + std::string(text) + "'");
  }
  return value;
}

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

std::size_t Rows::size() const {
  return static_cast<std::size_t>(impl_->result.size());
}

std::size_t Rows::affected() const {
  return static_cast<std::size_t>(impl_->result.affected_rows());
}

std::size_t Rows::columns() const {
  return static_cast<std::size_t>(impl_->result.columns());
}

std::string_view Rows::column_name(std::size_t column) const {
  if (column >= columns()) throw std::out_of_range("the result has no such column");
  return impl_->result.column_name(static_cast<pqxx::row::size_type>(column));
}

TypeOid Rows::column_type(std::size_t column) const {
  if (column >= columns()) throw std::out_of_range("the result has no such column");
  return impl_->result.column_type(static_cast<pqxx::row::size_type>(column));
}

bool Rows::is_null(std::size_t row, std::size_t column) const {
  return impl_->at(row, column).data() == nullptr;
}

std::string_view Rows::text(std::size_t row, std::size_t column) const {
  return impl_->at(row, column);
}

std::optional<std::string> Rows::text_or_null(std::size_t row, std::size_t column) const {
  if (is_null(row, column)) return std::nullopt;
  return std::string(text(row, column));
}

std::int16_t Rows::int2(std::size_t row, std::size_t column) const {
  return number<std::int16_t>(text(row, column));
}

std::int32_t Rows::int4(std::size_t row, std::size_t column) const {
  return number<std::int32_t>(text(row, column));
}

std::int64_t Rows::int8(std::size_t row, std::size_t column) const {
  return number<std::int64_t>(text(row, column));
}

Bytes Rows::bytea(std::size_t row, std::size_t column) const {
  const std::string_view value = text(row, column);
  if (!value.starts_with("\\x") || value.size() % 2 != 0) {
    throw std::invalid_argument("the answer has no bytes there");
  }
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  Bytes bytes;
  bytes.reserve(value.size() / 2);
  for (std::size_t i = 2; i < value.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(digit(value[i]) << 4 | digit(value[i + 1])));
  }
  return bytes;
}

double Rows::real(std::size_t row, std::size_t column) const {
  return number<double>(text(row, column));
}

bool Rows::boolean(std::size_t row, std::size_t column) const {
  const std::string_view value = text(row, column);
  if (value != "t" && value != "f") throw std::invalid_argument("the answer has no boolean there");
  return value == "t";
}

Timestamp Rows::timestamp(std::size_t row, std::size_t column) const {
  // Sessions use UTC and ISO, so a time has the form `2026-07-04 14:38:08.085434+00`.
  std::string value(text(row, column));
  if (const auto space = value.find(' '); space != std::string::npos) value[space] = 'T';
  if (value.ends_with("+00")) value.replace(value.size() - 3, 3, "Z");
  const auto time = parse_datetime(value);
  if (!time) throw std::invalid_argument("the answer has no such time: '" + value + "'");
  return time->instant;
}

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

}  // namespace skua::postgres
