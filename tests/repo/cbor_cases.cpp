#include "repo/cbor_cases.hpp"

#include "atproto/cid.hpp"
#include "repo/dag_cbor.hpp"
#include "support/test_vectors.hpp"

namespace skua::repo::test_cases {
namespace {

CborCase legal(std::string name, std::string_view hex) {
  return {std::move(name), test::from_hex(hex), std::nullopt};
}

CborCase bad(std::string name, std::string_view hex, errc error) {
  return {std::move(name), test::from_hex(hex), error};
}

CborCase nested(std::string name, std::size_t depth, std::optional<errc> error) {
  Bytes bytes(depth, 0x81);
  bytes.back() = 0x80;
  return {std::move(name), std::move(bytes), error};
}

Bytes link_with(std::uint8_t codec) {
  Bytes bytes;
  CborWriter(bytes).link(atproto::Cid::of({}, codec));
  return bytes;
}

}  // namespace

std::vector<CborCase> own_cases() {
  std::vector<CborCase> cases = {
      legal("null", "f6"),
      legal("true", "f5"),
      legal("largest in the head", "17"),
      legal("smallest of one byte", "1818"),
      legal("smallest of two bytes", "190100"),
      legal("smallest of four bytes", "1a00010000"),
      legal("smallest of eight bytes", "1b0000000100000000"),
      legal("largest integer", "1b7fffffffffffffff"),
      legal("smallest integer", "3b7fffffffffffffff"),
      legal("empty text", "60"),
      legal("empty bytes", "40"),
      legal("empty list", "80"),
      legal("empty map", "a0"),
      legal("keys by length then bytes", "a3616201616302626161f6"),
      legal("empty key first", "a26001616102"),
      legal("nested", "a16161826162a1616381f6"),
      legal("text beyond ASCII", "63e6b0b4"),
      legal("NUL in text", "6100"),

      bad("nothing", "", errc::cbor_truncated),
      bad("integer cut", "1901", errc::cbor_truncated),
      bad("text cut", "6261", errc::cbor_truncated),
      bad("bytes cut", "43ffff", errc::cbor_truncated),
      bad("list cut",
          "820102"
          "ff",
          errc::cbor_trailing_bytes),
      bad("list without its items", "8201", errc::cbor_truncated),
      bad("map without its value", "a16161", errc::cbor_truncated),
      bad("list of 2^64-1 items", "9bffffffffffffffff", errc::cbor_truncated),
      bad("map of 2^63 entries", "bb8000000000000000", errc::cbor_truncated),
      bad("text of 2^64-1 bytes", "7bffffffffffffffff61", errc::cbor_truncated),
      bad("bytes of 2^32 bytes", "5b0000000100000000", errc::cbor_truncated),
      bad("two values", "0000", errc::cbor_trailing_bytes),

      bad("indefinite list", "9fff", errc::cbor_indefinite_length),
      bad("indefinite map", "bfff", errc::cbor_indefinite_length),
      bad("indefinite text", "7f6161ff", errc::cbor_indefinite_length),
      bad("indefinite bytes", "5f4161ff", errc::cbor_indefinite_length),
      bad("indefinite inside", "a161619fff", errc::cbor_indefinite_length),
      bad("indefinite key", "a17f6161ff01", errc::cbor_indefinite_length),
      bad("break alone", "ff", errc::cbor_indefinite_length),

      bad("23 in one byte", "1817", errc::cbor_not_shortest),
      bad("255 in two bytes", "1900ff", errc::cbor_not_shortest),
      bad("65535 in four bytes", "1a0000ffff", errc::cbor_not_shortest),
      bad("2^32-1 in eight bytes", "1b00000000ffffffff", errc::cbor_not_shortest),
      bad("negative in one byte", "3817", errc::cbor_not_shortest),
      bad("text length in one byte", "780161", errc::cbor_not_shortest),
      bad("bytes length in two bytes", "59000161", errc::cbor_not_shortest),
      bad("list length in one byte", "980100", errc::cbor_not_shortest),
      bad("map length in one byte", "b801616100", errc::cbor_not_shortest),
      bad("key length in one byte", "a178016100", errc::cbor_not_shortest),

      bad("integer key", "a10000", errc::cbor_key_not_text),
      bad("bytes key", "a1416100", errc::cbor_key_not_text),
      bad("list key", "a18000", errc::cbor_key_not_text),
      bad("null key", "a1f600", errc::cbor_key_not_text),
      bad("keys out of order", "a2616201616102", errc::cbor_key_order),
      bad("longer key first", "a262616101616202", errc::cbor_key_order),
      bad("doubled key", "a2616101616102", errc::cbor_key_order),
      bad("doubled key after a subtree", "a26161a1616200616102", errc::cbor_key_order),
      bad("key not UTF-8", "a161ff00", errc::cbor_invalid_utf8),
      bad("text not UTF-8", "61ff", errc::cbor_invalid_utf8),
      bad("surrogate", "63eda080", errc::cbor_invalid_utf8),
      bad("overlong", "62c080", errc::cbor_invalid_utf8),

      bad("bignum", "c249010000000000000000", errc::cbor_bad_tag),
      bad("time tag", "c11a514b67b0", errc::cbor_bad_tag),
      bad("self-described", "d9d9f700", errc::cbor_bad_tag),
      bad("tag 42 in two bytes", "d9002a4100", errc::cbor_not_shortest),
      bad("link of text", "d82a6161", errc::cbor_bad_link),
      bad("link of nothing", "d82a40", errc::cbor_bad_link),
      bad("link cut", "d82a", errc::cbor_truncated),
      bad("link of a link", "d82ad82a4100", errc::cbor_bad_link),

      bad("integer above int64", "1b8000000000000000", errc::cbor_integer_range),
      bad("integer below int64", "3b8000000000000000", errc::cbor_integer_range),
      bad("float", "fb3ff8000000000000", errc::cbor_float),
      bad("half float", "f93e00", errc::cbor_float),
      bad("single float", "fa47c35000", errc::cbor_float),
      bad("undefined", "f7", errc::cbor_bad_simple),
      bad("simple 16", "f0", errc::cbor_bad_simple),
      bad("simple 255", "f8ff", errc::cbor_bad_simple),
      bad("false in two bytes", "f814", errc::cbor_bad_simple),
      bad("reserved argument", "1c", errc::cbor_malformed),
      bad("reserved length", "7e", errc::cbor_malformed),

      nested("as deep as allowed", 128, std::nullopt),
      nested("one too deep", 129, errc::cbor_too_deep),
      nested("far too deep", 100'000, errc::cbor_too_deep),
      {"link to dag-cbor", link_with(atproto::Cid::kDagCbor), std::nullopt},
      {"link to a blob", link_with(atproto::Cid::kRaw), std::nullopt},
      {"link to dag-pb", link_with(0x70), errc::cbor_bad_link},
  };
  Bytes no_prefix = link_with(atproto::Cid::kRaw);
  no_prefix[4] = 1;
  cases.push_back({"link without its zero byte", no_prefix, errc::cbor_bad_link});
  return cases;
}

}  // namespace skua::repo::test_cases
