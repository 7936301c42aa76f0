#include "event/errc.hpp"

#include <array>

#include "base/result.hpp"

namespace skua::event {
namespace {

constexpr auto kErrorTexts = std::to_array<ErrorText<errc>>({
    {errc::frame_too_large, "the frame is larger than 5 MB"},
    {errc::frame_truncated, "the frame ends in the middle of a value"},
    {errc::frame_malformed, "the frame is not two maps of definite length with text keys"},
    {errc::bad_header, "the frame's header has no integer op, or no text t"},
    {errc::bad_body, "the frame's body is not a map"},
    {errc::bad_seq, "seq is missing or not a number from 1 to 2^53"},
    {errc::bad_did, "the account's DID is missing or not a DID"},
    {errc::bad_time, "time is missing or not a datetime"},
    {errc::bad_rev, "rev is missing or not a TID below 2^63"},
    {errc::bad_since, "since is missing, or neither null nor text"},
    {errc::bad_commit, "commit is missing or not a link"},
    {errc::bad_prev_data, "prevData is not a link"},
    {errc::bad_blocks, "blocks is missing or not bytes"},
    {errc::blocks_too_large, "blocks is larger than the limit for this message"},
    {errc::bad_ops, "ops is missing or not a list"},
    {errc::too_many_ops, "more than 200 ops"},
    {errc::bad_active, "active is missing or not a boolean"},
    {errc::bad_status, "status is not text"},
    {errc::bad_name, "the name of the information or error is missing or not text"},
    {errc::bad_message, "message is not text"},
    {errc::json_bad_link, "a $link that is not alone or is not a CID that atproto allows"},
    {errc::json_bad_bytes, "a $bytes that is not alone or is not base64"},
    {errc::json_integer_range, "a number that does not fit 64 bits"},
    {errc::json_too_deep, "JSON that is nested too deeply"},
    {errc::json_malformed, "not JSON"},
    {errc::json_duplicate_key, "a key that occurs twice in one object"},
    {errc::json_too_large, "the message is larger than 8 MB"},
    {errc::json_bad_id, "id is missing or not a number from 1 to 2^63 - 1"},
    {errc::json_bad_cursor, "time_us or seq is missing or not a number from 1 to 2^53"},
    {errc::bad_labels, "labels is missing or not a list"},
    {errc::label_malformed, "the label is not a map of atproto's data model"},
    {errc::label_bad_version, "the label's ver is not 1"},
    {errc::label_bad_src, "the label's src is missing or not a DID"},
    {errc::label_bad_uri, "the label's uri is missing, or is no URI"},
    {errc::label_bad_cid, "the label's cid is not the CID of a record"},
    {errc::label_bad_val, "the label's val is missing, or not text of 1 to 128 bytes without NUL"},
    {errc::label_bad_neg, "the label's neg is not a boolean"},
    {errc::label_bad_cts, "the label's cts is missing or not a datetime"},
    {errc::label_bad_exp, "the label's exp is not a datetime"},
    {errc::label_bad_sig, "the label's sig is not bytes"},
});

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const ErrorCategory<kErrorTexts> category("skua.event");
  return {static_cast<int>(e), category};
}

}  // namespace skua::event
