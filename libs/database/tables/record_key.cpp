#include "tables/record_key.hpp"

#include "atproto/sha256.hpp"
#include "atproto/tid.hpp"

namespace skua::tables {

RkeyNumber rkey_number(std::string_view rkey) {
  if (const auto tid = atproto::Tid::parse(rkey); tid.has_value() && tid->fits_int8()) {
    return {static_cast<std::int64_t>(tid->value), false};
  }
  const atproto::Digest digest = atproto::sha256(as_bytes(rkey));
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < sizeof(first); ++i) first = first << 8 | digest[i];
  return {-static_cast<std::int64_t>(first >> 1), rkey != kSelf};
}

}  // namespace skua::tables
