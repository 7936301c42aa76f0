#pragma once

#include <boost/system/error_code.hpp>

namespace skua::event {

/// What can be wrong with a frame as a whole, or with a record or message in JSON.
enum class errc {
  frame_too_large = 1,
  frame_truncated,  // the peek ran into the end
  frame_malformed,  // the peek met what no frame has
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
  bad_handle,
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
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua::event

template <>
struct boost::system::is_error_code_enum<skua::event::errc> : std::true_type {};
