#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "event/json_transcoder.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

/// Converts a JSON record to DAG-CBOR as `JsonTranscoder` does. Programs that create records use
/// this function; streams do not. Binary values become bytes. Throws if the text is not UTF-8.
Result<Bytes> json_to_dag_cbor(const nlohmann::json& record);

// The Tap decoder and the Jetstream decoder share these functions. The caller sets the account,
// source and seq of `out`, and each function fills the other fields. An event that cannot be used
// becomes a Rejection with `whole`, the JSON text of the event, as payload.

/// The size limit for a message of a JSON source. The largest record fits even if each of its
/// characters is escaped.
inline constexpr std::size_t kMaxJsonMessage = 8'000'000;

/// Returns the DID exactly as the text contains it, or an empty text if the DID is invalid or
/// contains escapes. Peeks and decoders must agree about the DID, and no producer needs escapes in
/// a DID.
std::string_view json_did(JsonSlice did);

/// One change of a record in a message of a JSON source.
struct JsonOp {
  JsonSlice rev;
  JsonSlice action;
  JsonSlice collection;
  JsonSlice rkey;
  JsonSlice cid;     // text form; absent on delete
  JsonSlice record;  // absent on delete
  std::string_view whole;
};

/// Decodes changes of records. Contains scratch memory: use one for each thread.
class JsonOpDecoder {
 public:
  /// Fills `out` with the same RecordChange that the frame decoder would make. The CID of the
  /// change is the CID that the source claims. Returns false if the hash of the record, converted
  /// back to DAG-CBOR, differs from the CID. Such a difference is not an error, because JSON loses
  /// information (a float without a fraction).
  bool decode(const JsonOp& op, UnresolvedEvent& out);
  /// Whether the last op was a create or update without a record.
  bool lacks_record() const { return lacks_record_; }

 private:
  /// Returns the error message, which is empty on success.
  std::string read(const JsonOp& op, UnresolvedEvent& out);
  std::string read_json_record(const JsonOp& op, RecordChange& change);

  JsonTranscoder transcoder_;
  Bytes block_;
  atproto::Document record_;
  bool cid_matches_ = true;
  bool lacks_record_ = false;
};

/// Makes `out` a change of handle. A handle that is absent or malformed becomes unknown.
void read_json_identity(JsonSlice handle, Timestamp time, UnresolvedEvent& out);

/// Makes `out` a change of the account's status. `purge` stays false, because the caller decides on
/// it.
void read_json_account(JsonSlice active, JsonSlice status, Timestamp time, std::string_view whole,
                       UnresolvedEvent& out);

/// Makes `out` a Rejection.
void reject_json(std::string_view what, std::string error, std::string_view whole,
                 UnresolvedEvent& out);

}  // namespace skua::event
