#include "event/errc.hpp"

#include <string>

namespace skua::event {
namespace {

class EventCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "skua.event"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::frame_too_large:
        return "the frame is larger than 5 MB";
      case errc::frame_truncated:
        return "the frame ends in the middle of a value";
      case errc::frame_malformed:
        return "the frame is not two maps of definite length with text keys";
      case errc::bad_header:
        return "the frame's header has no integer op, or no text t";
      case errc::bad_body:
        return "the frame's body is not a map";
      case errc::bad_seq:
        return "seq is missing or not a number from 1 to 2^53";
      case errc::bad_did:
        return "the account's DID is missing or not a DID";
      case errc::bad_time:
        return "time is missing or not a datetime";
      case errc::bad_rev:
        return "rev is missing or not a TID below 2^63";
      case errc::bad_since:
        return "since is missing, or neither null nor text";
      case errc::bad_commit:
        return "commit is missing or not a link";
      case errc::bad_prev_data:
        return "prevData is not a link";
      case errc::bad_blocks:
        return "blocks is missing or not bytes";
      case errc::blocks_too_large:
        return "blocks is larger than the limit for this message";
      case errc::bad_ops:
        return "ops is missing or not a list";
      case errc::too_many_ops:
        return "more than 200 ops";
      case errc::bad_active:
        return "active is missing or not a boolean";
      case errc::bad_status:
        return "status is not text";
      case errc::bad_name:
        return "the name of the information or error is missing or not text";
      case errc::bad_message:
        return "message is not text";
      case errc::json_bad_link:
        return "a $link that is not alone or is not a CID that atproto allows";
      case errc::json_bad_bytes:
        return "a $bytes that is not alone or is not base64";
      case errc::json_integer_range:
        return "a number that does not fit 64 bits";
      case errc::json_too_deep:
        return "JSON that is nested too deeply";
      case errc::json_malformed:
        return "not JSON";
      case errc::json_duplicate_key:
        return "a key that occurs twice in one object";
      case errc::json_too_large:
        return "the message is larger than 8 MB";
      case errc::json_bad_id:
        return "id is missing or not a number from 1 to 2^63 - 1";
      case errc::json_bad_cursor:
        return "time_us or seq is missing or not a number from 1 to 2^53";
      case errc::bad_labels:
        return "labels is missing or not a list";
      case errc::label_malformed:
        return "the label is not a map of atproto's data model";
      case errc::label_bad_version:
        return "the label's ver is not 1";
      case errc::label_bad_src:
        return "the label's src is missing or not a DID";
      case errc::label_bad_uri:
        return "the label's uri is missing, or is no URI";
      case errc::label_bad_cid:
        return "the label's cid is not the CID of a record";
      case errc::label_bad_val:
        return "the label's val is missing, or not text of 1 to 128 bytes without NUL";
      case errc::label_bad_neg:
        return "the label's neg is not a boolean";
      case errc::label_bad_cts:
        return "the label's cts is missing or not a datetime";
      case errc::label_bad_exp:
        return "the label's exp is not a datetime";
      case errc::label_bad_sig:
        return "the label's sig is not bytes";
    }
    return "unknown error";
  }
};

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const EventCategory category;
  return {static_cast<int>(e), category};
}

}  // namespace skua::event
