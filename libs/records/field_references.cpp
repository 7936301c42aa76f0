#include "atproto/syntax.hpp"
#include "records/field_reader.hpp"

// The fields of a FieldReader that several records share: references, blobs, labels.

namespace skua::records {
namespace {

/// The reference that a URI makes, if it names a record by DID and of the collection asked for.
std::optional<RecordRef> reference_to(const atproto::AtUri& uri, std::string_view collection) {
  if (!uri.authority.starts_with("did:") || uri.rkey.empty()) return std::nullopt;
  if (!collection.empty() && uri.collection != collection) return std::nullopt;
  RecordRef reference;
  reference.did = uri.authority;
  reference.collection = uri.collection;
  reference.rkey = uri.rkey;
  return reference;
}

}  // namespace

std::optional<RecordRef> FieldReader::record_uri(std::string_view key,
                                                 std::string_view collection) {
  const std::string_view text = this->text(key);
  if (failed()) return std::nullopt;
  const auto uri = atproto::parse_at_uri(text);
  if (!uri) {
    fail(key, "not an AT-URI");
    return std::nullopt;
  }
  auto reference = reference_to(*uri, collection);
  if (!reference) keep(key);
  return reference;
}

std::optional<RecordRef> FieldReader::as_strong_ref(std::string_view key,
                                                    const atproto::Value& value,
                                                    std::string_view collection) {
  FieldReader object(value, *this, key);
  if (!object.check_map()) return std::nullopt;
  auto reference = object.record_uri("uri", collection);
  const std::string_view cid_text = object.text("cid");
  if (failed()) return std::nullopt;
  const auto cid = atproto::Cid::parse(cid_text);
  if (cid) {
    if (reference) reference->cid = *cid;
  } else if (atproto::is_cid_text(cid_text)) {
    // The lexicons' format allows any base, codec and hash; the network's records have one form.
    // Another form is no fault, but no reference either.
    reference.reset();
  } else {
    object.fail("cid", "not a CID");
    return std::nullopt;
  }
  if (!reference || !object.complete()) keep(key);
  return reference;
}

std::optional<RecordRef> FieldReader::strong_ref(std::string_view key,
                                                 std::string_view collection) {
  const auto value = take_required(key);
  return value ? as_strong_ref(key, *value, collection) : std::nullopt;
}

std::optional<RecordRef> FieldReader::optional_strong_ref(std::string_view key,
                                                          std::string_view collection) {
  const auto value = take(key);
  return value ? as_strong_ref(key, *value, collection) : std::nullopt;
}

Blob FieldReader::as_blob(std::string_view key, const atproto::Value& value) {
  Blob blob;
  FieldReader object(value, *this, key);
  if (!object.check_map()) return blob;
  if (object.type() == "blob") {
    if (const auto ref = object.take_required("ref")) {
      if (ref->is_link()) {
        blob.ref = ref->link();
      } else {
        object.fail("ref", "must be a link");
      }
    }
    blob.mime_type = object.text("mimeType");
    blob.size = object.integer("size");
  } else if (value.find("cid") && !value.find("$type")) {
    blob.legacy_cid = object.text("cid");
    blob.mime_type = object.text("mimeType");
    if (!failed() && !atproto::is_cid_text(blob.legacy_cid)) object.fail("cid", "not a CID");
  } else {
    object.fail({}, "must be a blob");
  }
  if (!object.complete()) keep(key);
  return blob;
}

Blob FieldReader::blob(std::string_view key) {
  const auto value = take_required(key);
  return value ? as_blob(key, *value) : Blob{};
}

std::optional<Blob> FieldReader::optional_blob(std::string_view key) {
  const auto value = take(key);
  if (!value) return std::nullopt;
  return as_blob(key, *value);
}

std::optional<TextList> FieldReader::optional_self_labels(std::string_view key) {
  auto labels = optional_union_object(key);
  if (!labels) return std::nullopt;
  if (labels->type() != "com.atproto.label.defs#selfLabels") {
    keep(key);
    return std::nullopt;
  }
  TextList values;
  bool whole = true;
  labels->require("values");
  labels->each_object("values", [&](FieldReader& label) {
    values.push_back(label.text("val"));
    whole = whole && label.complete();
  });
  if (!whole || !labels->complete()) keep(key);
  return values;
}

}  // namespace skua::records
