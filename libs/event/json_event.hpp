#pragma once

#include <string_view>

#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "event/json_transcoder.hpp"
#include "event/json_walker.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

// What Tap and Jetstream have in common. Each function fills `out`, whose account, source and seq
// the caller has set, and makes it a Rejection when the event cannot be used: its payload is
// `whole`, the text that says the event.

/// No message of a JSON source is larger: the largest record, each of its characters as an escape,
/// fits.
inline constexpr std::size_t kMaxJsonMessage = 8'000'000;

/// A DID as it stands, empty when it is none. One that is written with escapes is none: the peeks
/// and the decoders are to see the same, and what all producers write has nothing to escape.
std::string_view json_did(JsonSlice did);

/// One change of a record as a JSON source tells it.
struct JsonOp {
  JsonSlice rev;
  JsonSlice action;
  JsonSlice collection;
  JsonSlice rkey;
  JsonSlice cid;     // text form; absent on delete
  JsonSlice record;  // absent on delete
  std::string_view whole;
};

/// Decodes changes of records. Holds scratch memory: one a thread.
class JsonOpDecoder {
 public:
  /// Fills `out` with a RecordChange that the frame decoder would make too. The CID is the one that
  /// the source claims. False: the record, turned back into DAG-CBOR, does not hash to it. JSON
  /// loses things (a float without a fraction), so that this is no error.
  bool decode(const JsonOp& op, UnresolvedEvent& out);

 private:
  /// The error message; empty on success.
  std::string read(const JsonOp& op, UnresolvedEvent& out);
  std::string read_json_record(const JsonOp& op, RecordChange& change);

  JsonTranscoder transcoder_;
  Bytes block_;
  atproto::Document record_;
  bool cid_matches_ = true;
};

/// A change of handle. One that is absent, null or empty is not known.
void read_json_identity(JsonSlice handle, Timestamp time, std::string_view whole,
                        UnresolvedEvent& out);

/// An account's status. `purge` stays false: that is for who judges it.
void read_json_account(JsonSlice active, JsonSlice status, Timestamp time, std::string_view whole,
                       UnresolvedEvent& out);

/// Makes `out` a Rejection.
void reject_json(std::string_view what, std::string error, std::string_view whole,
                 UnresolvedEvent& out);

}  // namespace skua::event
