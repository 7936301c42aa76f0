#include "postgres/parameters.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

namespace skua::postgres {

namespace {

constexpr std::array<std::pair<TypeOid, std::string_view>, 22> kNames{{
    {oid::kBool, "boolean"},
    {oid::kBytea, "bytea"},
    {oid::kChar, "\"char\""},
    {oid::kName, "name"},
    {oid::kInt8, "int8"},
    {oid::kInt2, "int2"},
    {oid::kInt4, "int4"},
    {oid::kText, "text"},
    {oid::kOid, "oid"},
    {oid::kJson, "json"},
    {oid::kFloat4, "float4"},
    {oid::kFloat8, "float8"},
    {oid::kBoolArray, "boolean[]"},
    {oid::kByteaArray, "bytea[]"},
    {oid::kInt2Array, "int2[]"},
    {oid::kInt4Array, "int4[]"},
    {oid::kTextArray, "text[]"},
    {oid::kInt8Array, "int8[]"},
    {oid::kVarchar, "varchar"},
    {oid::kTimestamptz, "timestamptz"},
    {oid::kTimestamptzArray, "timestamptz[]"},
    {oid::kJsonb, "jsonb"},
}};

constexpr std::size_t kHeader = 20;

struct ArrayTypes {
  TypeOid item;
  TypeOid array;
};

/// The types in the order of Array::Type.
constexpr std::array<ArrayTypes, 7> kTypes{{{oid::kInt2, oid::kInt2Array},
                                            {oid::kInt4, oid::kInt4Array},
                                            {oid::kInt8, oid::kInt8Array},
                                            {oid::kBool, oid::kBoolArray},
                                            {oid::kText, oid::kTextArray},
                                            {oid::kBytea, oid::kByteaArray},
                                            {oid::kTimestamptz, oid::kTimestamptzArray}}};

template <class T>
Params::Value value_of(TypeOid type, T number) {
  const auto bytes = big_endian(number);
  return {false, type, std::string(bytes.data(), bytes.size())};
}

}  // namespace

std::string type_name(TypeOid oid) {
  const auto found = std::ranges::find(kNames, oid, &std::pair<TypeOid, std::string_view>::first);
  return found == kNames.end() ? "type " + std::to_string(oid) : std::string(found->second);
}

void Values::int2(std::int16_t value) {
  append_item(encoded_, static_cast<std::uint16_t>(value));
  ++count_;
}

void Values::int4(std::int32_t value) {
  append_item(encoded_, static_cast<std::uint32_t>(value));
  ++count_;
}

void Values::int8(std::int64_t value) {
  append_item(encoded_, static_cast<std::uint64_t>(value));
  ++count_;
}

void Values::boolean(bool value) {
  append_item(encoded_, static_cast<std::uint8_t>(value ? 1 : 0));
  ++count_;
}

void Values::text(std::string_view value) {
  const std::size_t start = encoded_.size();
  append(encoded_, static_cast<std::uint32_t>(value.size()));
  if (const std::size_t removed = append_without_nuls(encoded_, value); removed > 0) {
    set_length(start);
    nuls_removed_ += removed;
  }
  ++count_;
}

void Values::bytea(ByteView value) {
  append(encoded_, static_cast<std::uint32_t>(value.size()));
  encoded_.append(as_text(value));
  ++count_;
}

void Values::timestamp(Timestamp value) {
  append_item(encoded_, postgres_time(value));
  ++count_;
}

void Values::json(std::string_view value) {
  if (form_ == Form::Array) return text(value);
  // jsonb's binary form is a version and then the text.
  const std::size_t start = encoded_.size();
  append(encoded_, std::uint32_t{0});
  append(encoded_, std::uint8_t{1});
  nuls_removed_ += append_without_nuls(encoded_, value);
  set_length(start);
  ++count_;
}

void Values::text_list(std::span<const std::string_view> value) {
  if (form_ == Form::Array) return text(text_array_literal(value));
  Array items(Array::Type::text);
  for (const std::string_view item : value) items.text(item);
  nuls_removed_ += items.nuls_removed();
  bytea(as_bytes(items.encode()));
}

void Values::int8_list(std::span<const std::int64_t> value) {
  if (form_ == Form::Array) {
    std::string literal;
    for (const std::int64_t item : value) {
      literal += literal.empty() ? '{' : ',';
      literal += std::to_string(item);
    }
    return text(literal.empty() ? "{}" : literal + "}");
  }
  Array items(Array::Type::int8);
  for (const std::int64_t item : value) items.int8(item);
  bytea(as_bytes(items.encode()));
}

void Values::null() {
  append(encoded_, ~std::uint32_t{0});
  has_nulls_ = true;
  ++count_;
}

void Values::set_length(std::size_t start) {
  const auto length = big_endian(static_cast<std::uint32_t>(encoded_.size() - start - 4));
  std::memcpy(encoded_.data() + start, length.data(), length.size());
}

void CopyRows::row() {
  append(raw(), static_cast<std::uint16_t>(columns_));
  ++rows_;
}

TypeOid Array::item_type() const {
  return kTypes[static_cast<std::size_t>(type_)].item;
}

TypeOid Array::array_type() const {
  return kTypes[static_cast<std::size_t>(type_)].array;
}

std::string Array::encode() const {
  std::string out;
  out.reserve(kHeader + encoded().size());
  // An empty array has no dimension.
  append(out, std::uint32_t{count() == 0 ? 0U : 1U});
  append(out, std::uint32_t{has_nulls() ? 1U : 0U});
  append(out, item_type());
  if (count() == 0) return out;
  append(out, static_cast<std::uint32_t>(count()));
  append(out, std::uint32_t{1});  // the index of the first item
  out += encoded();
  return out;
}

std::string text_array_literal(std::span<const std::string_view> items) {
  std::string out = "{";
  for (const std::string_view item : items) {
    if (out.size() > 1) out += ',';
    out += '"';
    for (const char c : item) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  out += '}';
  return out;
}

Params& Params::int2(std::int16_t value) {
  values_.push_back(value_of(oid::kInt2, static_cast<std::uint16_t>(value)));
  return *this;
}

Params& Params::int4(std::int32_t value) {
  values_.push_back(value_of(oid::kInt4, static_cast<std::uint32_t>(value)));
  return *this;
}

Params& Params::int8(std::int64_t value) {
  values_.push_back(value_of(oid::kInt8, static_cast<std::uint64_t>(value)));
  return *this;
}

Params& Params::boolean(bool value) {
  values_.push_back(value_of(oid::kBool, static_cast<std::uint8_t>(value ? 1 : 0)));
  return *this;
}

Params& Params::real(double value) {
  values_.push_back(value_of(oid::kFloat8, std::bit_cast<std::uint64_t>(value)));
  return *this;
}

Params& Params::text(std::string_view value) {
  Value& added = values_.emplace_back();
  added.type = oid::kText;
  nuls_removed_ += append_without_nuls(added.binary, value);
  return *this;
}

Params& Params::bytea(ByteView value) {
  values_.push_back({false, oid::kBytea, std::string(as_text(value))});
  return *this;
}

Params& Params::timestamp(Timestamp value) {
  values_.push_back(value_of(oid::kTimestamptz, postgres_time(value)));
  return *this;
}

Params& Params::null() {
  values_.push_back({true, oid::kUnknown, {}});
  return *this;
}

Params& Params::array(const Array& values) {
  values_.push_back({false, values.array_type(), values.encode()});
  nuls_removed_ += values.nuls_removed();
  return *this;
}

}  // namespace skua::postgres
