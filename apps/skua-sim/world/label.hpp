#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "atproto/signing.hpp"
#include "base/bytes.hpp"
#include "message.hpp"

namespace skua::sim {

/// What a labeler says of an account or a record (atproto.com/specs/label), unsigned. Fields that
/// are not there are left out of its DAG-CBOR.
struct Label {
  std::optional<std::int64_t> ver = 1;
  std::string src;  // the labeler's DID
  std::string uri;  // an at-URI, or the DID of an account
  std::optional<std::string> cid;
  std::string val;
  std::optional<bool> neg;
  std::string cts;  // a datetime, as the next
  std::optional<std::string> exp;
};

/// What is wrong with a label that no honest labeler says. All but those of the signature are
/// signed as they stand.
enum class LabelFlaw : std::uint8_t {
  signature,     // a bit of it is changed
  no_signature,  // it is left out
  ver,           // 2
  src,           // somebody else's name
  uri,           // neither a URI nor a DID
  cid,           // no CID
  val,           // 129 bytes
  cts,           // no datetime
  exp,           // no datetime
};
/// `no-signature` and the like. Nothing: there is no such flaw.
std::optional<LabelFlaw> parse_label_flaw(std::string_view name);
/// All names, for a message.
std::string label_flaw_names();

/// The label with that fault; `stranger` is the DID of somebody else. What is wrong with a
/// signature comes when it is signed.
Label with_flaw(Label label, LabelFlaw flaw, std::string_view stranger);

/// The label's DAG-CBOR with its signature by that key.
Bytes signed_label(const Label& label, const atproto::SigningKey& key,
                   std::optional<LabelFlaw> flaw = std::nullopt);

/// `#labels` of com.atproto.label.subscribeLabels; `labels` are DAG-CBOR each.
Message labels_message(std::string_view did, std::span<const Bytes> labels);

}  // namespace skua::sim
