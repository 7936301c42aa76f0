#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "store/values.hpp"

namespace skua::store {

/// The parameters of one statement, in order.
class Params {
 public:
  Params& int4(std::int32_t value);
  Params& int8(std::int64_t value);
  Params& boolean(bool value);
  Params& text(std::string_view value);
  Params& bytea(ByteView value);
  Params& timestamp(Timestamp value);
  Params& null();
  Params& array(const Array& values);

  struct Value {
    bool is_null = false;
    std::string binary;
  };
  const std::vector<Value>& values() const { return values_; }
  std::size_t nuls_removed() const { return nuls_removed_; }

 private:
  std::vector<Value> values_;
  std::size_t nuls_removed_ = 0;
};

}  // namespace skua::store
