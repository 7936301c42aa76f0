#include "store/parameters.hpp"

#include <bit>

#include "store/binary_form.hpp"

namespace skua::store {
namespace {

template <class T>
Params::Value value_of(TypeOid type, T number) {
  const auto bytes = big_endian(number);
  return {false, type, std::string(bytes.data(), bytes.size())};
}

}  // namespace

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

}  // namespace skua::store
