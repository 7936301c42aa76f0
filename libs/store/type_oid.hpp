#pragma once

#include <cstdint>
#include <string>

/// The types of PostgreSQL by their OIDs (pg_type), which are constant.
namespace skua::store {

using TypeOid = std::uint32_t;

namespace oid {
inline constexpr TypeOid kUnknown = 0;
inline constexpr TypeOid kBool = 16;
inline constexpr TypeOid kBytea = 17;
inline constexpr TypeOid kChar = 18;
inline constexpr TypeOid kName = 19;
inline constexpr TypeOid kInt8 = 20;
inline constexpr TypeOid kInt2 = 21;
inline constexpr TypeOid kInt4 = 23;
inline constexpr TypeOid kText = 25;
inline constexpr TypeOid kOid = 26;
inline constexpr TypeOid kJson = 114;
inline constexpr TypeOid kFloat4 = 700;
inline constexpr TypeOid kFloat8 = 701;
inline constexpr TypeOid kBoolArray = 1000;
inline constexpr TypeOid kByteaArray = 1001;
inline constexpr TypeOid kInt2Array = 1005;
inline constexpr TypeOid kInt4Array = 1007;
inline constexpr TypeOid kTextArray = 1009;
inline constexpr TypeOid kInt8Array = 1016;
inline constexpr TypeOid kVarchar = 1043;
inline constexpr TypeOid kTimestamptz = 1184;
inline constexpr TypeOid kTimestamptzArray = 1185;
inline constexpr TypeOid kJsonb = 3802;
}  // namespace oid

/// The name of a type for a message, or its number.
std::string type_name(TypeOid oid);

}  // namespace skua::store
