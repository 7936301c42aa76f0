#pragma once

#include <boost/system/error_code.hpp>

namespace skua::event {

/// Errors of a frame, of a record or message in JSON, or of a label.
enum class errc {
  frame_too_large = 1,
  frame_truncated,  // the input ends within a value
  frame_malformed,  // an invalid CBOR head, or a map key that is not text
  bad_header,
  bad_body,  // not a map
  bad_seq,
  bad_did,
  bad_time,
  bad_rev,
  bad_since,
  bad_commit,
  bad_prev_data,
  bad_blocks,
  blocks_too_large,
  bad_ops,
  too_many_ops,
  bad_active,
  bad_status,
  bad_name,
  bad_message,
  json_bad_link,
  json_bad_bytes,
  json_integer_range,
  json_too_deep,
  json_malformed,
  json_duplicate_key,
  json_too_large,
  json_bad_id,
  json_bad_cursor,
  bad_labels,
  label_malformed,
  label_bad_version,
  label_bad_src,
  label_bad_uri,
  label_bad_cid,
  label_bad_val,
  label_bad_neg,
  label_bad_cts,
  label_bad_exp,
  label_bad_sig,
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua::event

template <>
struct boost::system::is_error_code_enum<skua::event::errc> : std::true_type {};
