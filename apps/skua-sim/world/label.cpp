#include "label.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "repo/dag_cbor_writer.hpp"

namespace skua::sim {
namespace {

using repo::CborWriter;

constexpr std::array<std::pair<std::string_view, LabelFlaw>, 9> kFlaws = {{
    {"signature", LabelFlaw::signature},
    {"no-signature", LabelFlaw::no_signature},
    {"ver", LabelFlaw::ver},
    {"src", LabelFlaw::src},
    {"uri", LabelFlaw::uri},
    {"cid", LabelFlaw::cid},
    {"val", LabelFlaw::val},
    {"cts", LabelFlaw::cts},
    {"exp", LabelFlaw::exp},
}};

/// The keys, all of three letters, are in the order of their bytes. Without a signature this is the
/// signed content.
Bytes label_bytes(const Label& label, ByteView signature) {
  Bytes bytes;
  CborWriter cbor(bytes);
  constexpr std::size_t kAlways = 4;
  cbor.map(kAlways + (label.ver ? 1 : 0) + (label.cid ? 1 : 0) + (label.neg ? 1 : 0) +
           (label.exp ? 1 : 0) + (signature.empty() ? 0 : 1));
  const auto text = [&cbor](std::string_view key, std::string_view value) {
    cbor.string(key);
    cbor.string(value);
  };
  if (label.cid) text("cid", *label.cid);
  text("cts", label.cts);
  if (label.exp) text("exp", *label.exp);
  if (label.neg) {
    cbor.string("neg");
    cbor.boolean(*label.neg);
  }
  if (!signature.empty()) {
    cbor.string("sig");
    cbor.bytes(signature);
  }
  text("src", label.src);
  text("uri", label.uri);
  text("val", label.val);
  if (label.ver) {
    cbor.string("ver");
    cbor.integer(*label.ver);
  }
  return bytes;
}

}  // namespace

std::optional<LabelFlaw> parse_label_flaw(std::string_view name) {
  const auto* const found =
      std::ranges::find(kFlaws, name, [](const auto& flaw) { return flaw.first; });
  return found == kFlaws.end() ? std::nullopt : std::optional(found->second);
}

std::string label_flaw_names() {
  std::string names;
  for (const auto& [name, flaw] : kFlaws) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

Label with_flaw(Label label, LabelFlaw flaw, std::string_view stranger) {
  constexpr std::size_t kLongestValue = 128;
  switch (flaw) {
    case LabelFlaw::signature:
    case LabelFlaw::no_signature:
      break;
    case LabelFlaw::ver:
      label.ver = 2;
      break;
    case LabelFlaw::src:
      label.src = stranger;
      break;
    case LabelFlaw::uri:
      label.uri = "nowhere in particular";
      break;
    case LabelFlaw::cid:
      label.cid = "no CID";
      break;
    case LabelFlaw::val:
      label.val.assign(kLongestValue + 1, 'x');
      break;
    case LabelFlaw::cts:
      label.cts = "last week";
      break;
    case LabelFlaw::exp:
      label.exp = "next week";
      break;
  }
  return label;
}

Bytes signed_label(const Label& label, const atproto::SigningKey& key,
                   std::optional<LabelFlaw> flaw) {
  Bytes content = label_bytes(label, {});
  if (flaw == LabelFlaw::no_signature) return content;
  atproto::Signature signature = key.sign(content);
  if (flaw == LabelFlaw::signature) signature.back() ^= 1U;
  return label_bytes(label, signature);
}

Message labels_message(std::string_view did, std::span<const Bytes> labels) {
  Message message;
  message.did = did;
  CborWriter cbor(message.bytes);
  cbor.map(2);
  cbor.string("t");
  cbor.string("#labels");
  cbor.string("op");
  cbor.integer(1);
  cbor.map(2);
  cbor.string("seq");
  message.seq_at = message.bytes.size();
  cbor.string("labels");
  cbor.list(labels.size());
  for (const Bytes& label : labels) {
    message.bytes.insert(message.bytes.end(), label.begin(), label.end());
  }
  return message;
}

}  // namespace skua::sim
