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

/// A labeler's statement about an account or a record (atproto.com/specs/label), unsigned. Absent
/// fields are omitted from its DAG-CBOR.
struct Label {
  std::optional<std::int64_t> ver = 1;
  std::string src;  // the labeler's DID
  std::string uri;  // an at-URI, or the DID of an account
  std::optional<std::string> cid;
  std::string val;
  std::optional<bool> neg;
  std::string cts;  // a datetime, like exp
  std::optional<std::string> exp;
};

/// The errors of a dishonest label. Except for those of the signature, such labels are signed
/// correctly.
enum class LabelFlaw : std::uint8_t {
  signature,     // one bit is changed
  no_signature,  // absent
  ver,           // 2
  src,           // the DID of another account
  uri,           // neither a URI nor a DID
  cid,           // not a CID
  val,           // 129 bytes
  cts,           // not a datetime
  exp,           // not a datetime
};
/// `no-signature` and so on. Nothing: unknown flaw.
std::optional<LabelFlaw> parse_label_flaw(std::string_view name);
/// All names, for a message.
std::string label_flaw_names();

/// The label with that flaw; `stranger` is the DID of another account. Flaws of the signature are
/// applied when the label is signed.
Label with_flaw(Label label, LabelFlaw flaw, std::string_view stranger);

/// The label's DAG-CBOR with its signature by that key.
Bytes signed_label(const Label& label, const atproto::SigningKey& key,
                   std::optional<LabelFlaw> flaw = std::nullopt);

/// `#labels` of com.atproto.label.subscribeLabels; each of `labels` is DAG-CBOR.
Message labels_message(std::string_view did, std::span<const Bytes> labels);

}  // namespace skua::sim
