#include "store/type_oid.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace skua::store {
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

}  // namespace

std::string type_name(TypeOid oid) {
  const auto found = std::ranges::find(kNames, oid, &std::pair<TypeOid, std::string_view>::first);
  return found == kNames.end() ? "type " + std::to_string(oid) : std::string(found->second);
}

}  // namespace skua::store
