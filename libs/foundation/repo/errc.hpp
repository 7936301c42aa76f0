#pragma once

#include <boost/system/error_code.hpp>

namespace skua::repo {

/// Errors in the bytes of a repository or a frame.
enum class errc {
  cbor_truncated = 1,
  cbor_trailing_bytes,
  cbor_indefinite_length,
  cbor_not_shortest,
  cbor_key_not_text,
  cbor_key_order,
  cbor_invalid_utf8,
  cbor_bad_tag,
  cbor_bad_link,
  cbor_float,
  cbor_bad_simple,
  cbor_integer_range,
  cbor_too_deep,
  cbor_too_large,
  car_truncated,
  car_bad_header,
  car_bad_version,
  car_bad_cid,
  car_hash_mismatch,
  car_not_a_repository,
  commit_malformed,
  commit_missing,
  mst_malformed,
  mst_order,
  mst_depth,
  mst_too_large,
  mst_missing_node,
  cbor_malformed,  // the head byte is undefined in CBOR
  car_bad_length,  // the length of a section is zero or is not a varint
  record_missing,
  car_duplicates,  // the CAR has more repeated blocks than an honest CAR has
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua::repo

template <>
struct boost::system::is_error_code_enum<skua::repo::errc> : std::true_type {};
