#include "store/parameters.hpp"

#include "store/binary_form.hpp"

namespace skua::store {
namespace {

template <class T>
Params::Value value_of(T number) {
  const auto bytes = big_endian(number);
  return {false, std::string(bytes.data(), bytes.size())};
}

}  // namespace

Params& Params::int4(std::int32_t value) {
  values_.push_back(value_of(static_cast<std::uint32_t>(value)));
  return *this;
}

Params& Params::int8(std::int64_t value) {
  values_.push_back(value_of(static_cast<std::uint64_t>(value)));
  return *this;
}

Params& Params::boolean(bool value) {
  values_.push_back(value_of(static_cast<std::uint8_t>(value ? 1 : 0)));
  return *this;
}

Params& Params::text(std::string_view value) {
  Value& added = values_.emplace_back();
  nuls_removed_ += append_without_nuls(added.binary, value);
  return *this;
}

Params& Params::bytea(ByteView value) {
  values_.push_back({false, std::string(as_text(value))});
  return *this;
}

Params& Params::timestamp(Timestamp value) {
  values_.push_back(value_of(postgres_time(value)));
  return *this;
}

Params& Params::null() {
  values_.push_back({true, {}});
  return *this;
}

Params& Params::array(const Array& values) {
  values_.push_back({false, values.encode()});
  nuls_removed_ += values.nuls_removed();
  return *this;
}

}  // namespace skua::store
