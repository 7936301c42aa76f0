#include "event/label_frame.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "atproto/syntax.hpp"
#include "event/errc.hpp"
#include "event/frame_fields.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::event {
namespace {

using atproto::Value;

constexpr std::size_t kMaxVal = 128;
constexpr std::int64_t kVersion = 1;
constexpr std::string_view kSig = "sig";
constexpr std::array<std::string_view, 9> kFields = {"ver", "src", "uri", "cid", "val",
                                                     "neg", "cts", "exp", kSig};

/// Returns an optional field. Some producers send null, which counts as absent.
std::optional<Value> optional_field(const Value& label, std::string_view key) {
  const auto value = label.find(key);
  return value && !value->is_null() ? value : std::nullopt;
}

/// Returns false if the subject is not a URI.
bool read_subject(std::string_view uri, Label& out) {
  if (!atproto::is_uri(uri)) return false;
  out.subject = UriRef{uri};
  if (atproto::is_did(uri)) {
    out.subject = records::ActorRef{uri};
    return true;
  }
  // A handle may belong to another account later, so a URI with a handle remains a text.
  const auto parts = atproto::parse_at_uri(uri);
  if (!parts || !atproto::is_did(parts->authority)) return true;
  if (parts->collection.empty()) {
    out.subject = records::ActorRef{parts->authority};
  } else if (!parts->rkey.empty()) {
    records::RecordRef record;
    record.did = parts->authority;
    record.collection = parts->collection;
    record.rkey = parts->rkey;
    out.subject = record;
  }
  return true;
}

std::optional<Timestamp> time_of(const Value& value) {
  if (!value.is_string()) return std::nullopt;
  const auto time = parse_datetime(value.string());
  if (!time) return std::nullopt;
  return time->instant;
}

/// Returns nothing if all fields are valid.
std::optional<errc> read_fields(const Value& label, Label& out) {
  if (!label.is_map()) return errc::label_malformed;
  const auto src = text_field(label, "src");
  if (!src || !atproto::is_did(*src)) return errc::label_bad_src;
  out.src = *src;
  // Labels that were made before version numbers existed have no `ver`.
  if (const auto ver = optional_field(label, "ver");
      ver && !(ver->is_integer() && ver->integer() == kVersion)) {
    return errc::label_bad_version;
  }
  const auto uri = text_field(label, "uri");
  if (!uri || !read_subject(*uri, out)) return errc::label_bad_uri;
  if (const auto cid = optional_field(label, "cid")) {
    if (!cid->is_string()) return errc::label_bad_cid;
    const auto parsed = atproto::Cid::parse(cid->string());
    if (!parsed || parsed->codec != atproto::Cid::kDagCbor) return errc::label_bad_cid;
    out.cid = *parsed;
  }
  const auto val = text_field(label, "val");
  if (!val || val->empty() || val->size() > kMaxVal || val->find('\0') != val->npos) {
    return errc::label_bad_val;
  }
  out.val = *val;
  if (const auto neg = optional_field(label, "neg")) {
    if (!neg->is_boolean()) return errc::label_bad_neg;
    out.neg = neg->boolean();
  }
  const auto cts = label.find("cts");
  const auto made_at = cts ? time_of(*cts) : std::nullopt;
  if (!made_at) return errc::label_bad_cts;
  out.cts = *made_at;
  if (const auto exp = optional_field(label, "exp")) {
    out.exp = time_of(*exp);
    if (!out.exp) return errc::label_bad_exp;
  }
  if (const auto sig = optional_field(label, kSig)) {
    if (!sig->is_bytes()) return errc::label_bad_sig;
    out.sig = sig->bytes();
  }
  return std::nullopt;
}

bool is_known(std::string_view key) {
  return std::find(kFields.begin(), kFields.end(), key) != kFields.end();
}

bool has_unknown_fields(const Value& label) {
  if (!label.is_map()) return false;
  for (const auto entry : label.entries()) {
    if (!is_known(entry.key)) return true;
  }
  return false;
}

/// Returns the known fields without `sig`. Their order remains the canonical order.
Bytes signed_form(const Value& label, bool keeps_nulls) {
  const auto is_signed = [&](std::string_view key, const Value& value) {
    return is_known(key) && key != kSig && (keeps_nulls || !value.is_null());
  };
  std::size_t size = 0;
  for (const auto entry : label.entries()) size += is_signed(entry.key, entry.value) ? 1 : 0;
  Bytes bytes;
  repo::CborWriter writer(bytes);
  writer.map(size);
  for (const auto entry : label.entries()) {
    if (!is_signed(entry.key, entry.value)) continue;
    writer.string(entry.key);
    writer.value(entry.value);
  }
  return bytes;
}

DecodedLabelFrame::Type type_of(MessageType type) {
  if (type == MessageType::Info) return DecodedLabelFrame::Type::Info;
  if (type == MessageType::Error) return DecodedLabelFrame::Type::Error;
  return DecodedLabelFrame::Type::Unknown;
}

}  // namespace

Result<void> LabelFrameDecoder::decode(ByteView frame, DecodedLabelFrame& out) {
  out.seq = 0;
  out.labels.clear();
  out.name.clear();
  out.message.clear();
  if (frame.size() > kMaxFrame) return errc::frame_too_large;
  const auto header_size = repo::read_dag_cbor_prefix(frame, header_, repo::kAnyForm);
  if (!header_size) return header_size.error();
  const auto op = header_.root().find("op");
  if (op && op->is_integer() && op->integer() == 1 &&
      text_field(header_.root(), "t") == "#labels") {
    out.type = DecodedLabelFrame::Type::Labels;
    return read_labels(frame.subspan(*header_size), out);
  }
  // Decodes the parts that all streams have in common.
  if (const auto decoded = words_.decode(frame, other_); !decoded) return decoded.error();
  out.type = type_of(other_.type);
  out.seq = other_.seq;
  out.name = other_.name;
  out.message = other_.message;
  return {};
}

Result<void> LabelFrameDecoder::read_labels(ByteView bytes, DecodedLabelFrame& out) {
  // Accepts any form, so that a float in one label does not affect the other labels.
  if (const auto read = repo::read_dag_cbor(bytes, body_, repo::kAnyForm); !read) {
    return read.error();
  }
  const Value body = body_.root();
  if (!body.is_map()) return errc::bad_body;
  const auto seq = body.find("seq");
  if (!seq || !seq->is_integer() || seq->integer() < 1 || seq->integer() > kMaxSeq) {
    return errc::bad_seq;
  }
  out.seq = seq->integer();
  const auto labels = body.find("labels");
  if (!labels || !labels->is_list()) return errc::bad_labels;
  out.labels.reserve(labels->size());
  for (const Value label : labels->items()) read_label(label, out.labels.emplace_back());
  return {};
}

void LabelFrameDecoder::read_label(const Value& value, LabelEntry& out) {
  // The signature covers the canonical DAG-CBOR, so the label is encoded in this form, whatever
  // form the frame has.
  repo::CborWriter(out.block).value(value);
  if (!repo::read_dag_cbor(out.block, label_)) {
    out.error = errc::label_malformed;
    return;
  }
  out.error = read_fields(label_.root(), out.label);
  out.has_unknown_fields = has_unknown_fields(label_.root());
}

std::vector<Bytes> signed_forms_of_label(ByteView block) {
  std::vector<Bytes> forms;
  atproto::Document document;
  if (!repo::read_dag_cbor(block, document) || !document.root().is_map()) return forms;
  forms.push_back(signed_form(document.root(), false));
  Bytes with_nulls = signed_form(document.root(), true);
  if (with_nulls != forms.front()) forms.push_back(std::move(with_nulls));
  return forms;
}

}  // namespace skua::event
