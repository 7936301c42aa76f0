#include "records/field_reader.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "records/json_text.hpp"

namespace skua::records {

namespace {

constexpr std::string_view kTypeKey = "$type";

// Common clients of PostgreSQL, such as those of Python, cannot represent times before year 1 or
// after year 9999. A day less at each end leaves room for the time zone of their session.
constexpr Timestamp kFirstTime = std::chrono::sys_days(std::chrono::year(1) / 1 / 2);
constexpr Timestamp kLastTime = std::chrono::sys_days(std::chrono::year(9999) / 12 / 30);

/// Returns the reason why a text does not have a format, or null if the text has it.
const char* format_fault(std::string_view text, FieldReader::Format format) {
  switch (format) {
    case FieldReader::Format::Any:
      return nullptr;
    case FieldReader::Format::AtUri:
      return atproto::parse_at_uri(text) ? nullptr : "not an AT-URI";
    case FieldReader::Format::Uri:
      return atproto::is_uri(text) ? nullptr : "not a URI";
    case FieldReader::Format::Did:
      return atproto::is_did(text) ? nullptr : "not a DID";
  }
  return nullptr;
}

/// Whether `bsky.time_text` returns this text of a datetime: in UTC, with three digits of the
/// second's fraction, or with six if three are not enough. PostgreSQL has no year 0.
bool is_usual_text(std::string_view text, Timestamp instant) {
  constexpr std::size_t kMilliseconds = std::string_view("2026-07-04T14:38:08.085Z").size();
  constexpr std::size_t kMicroseconds = kMilliseconds + 3;
  if (!text.ends_with('Z') || text.starts_with("0000")) return false;
  const bool is_fine = instant != std::chrono::floor<std::chrono::milliseconds>(instant);
  return text.size() == (is_fine ? kMicroseconds : kMilliseconds);
}

/// Returns the reference that a URI makes, if the URI names a record by DID and has the requested
/// collection.
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

void FieldReader::fail(std::string_view key, std::string_view fault) {
  if (failed()) return;
  std::string path;
  append_path(path);
  if (!key.empty()) {
    if (!path.empty()) path += '.';
    path += key;
  }
  notes_.fault = fmt::format("{}: {}", path, fault);
}

void FieldReader::append_path(std::string& path) const {
  if (parent_ == nullptr) return;
  parent_->append_path(path);
  if (!path.empty()) path += '.';
  path += key_;
  if (index_) path += fmt::format("[{}]", *index_);
}

std::optional<atproto::Value> FieldReader::take(std::string_view key) {
  for (const auto entry : map_.entries()) {
    if (entry.key != key) continue;
    if (taken_count_ < taken_.size() && !was_taken(entry.key)) {
      taken_[taken_count_++] = entry.key.data();
    }
    return entry.value;
  }
  return std::nullopt;
}

std::optional<atproto::Value> FieldReader::take_required(std::string_view key) {
  auto value = take(key);
  if (!value) fail(key, "missing");
  return value;
}

void FieldReader::require(std::string_view key) {
  if (!map_.find(key)) fail(key, "missing");
}

std::optional<atproto::Value> FieldReader::take_list(std::string_view key) {
  auto value = take(key);
  if (value && !value->is_list()) {
    fail(key, "must be a list");
    return std::nullopt;
  }
  return value;
}

bool FieldReader::was_taken(std::string_view key) const {
  const auto end = taken_.begin() + taken_count_;
  return std::find(taken_.begin(), end, key.data()) != end;
}

void FieldReader::keep(std::string_view key) {
  for (const auto entry : map_.entries()) {
    if (entry.key != key) continue;
    const auto end = taken_.begin() + taken_count_;
    const auto found = std::find(taken_.begin(), end, entry.key.data());
    if (found != end) *found = taken_[--taken_count_];
  }
}

bool FieldReader::complete() const {
  for (const auto entry : map_.entries()) {
    if (!was_taken(entry.key) && !(has_type_ && entry.key == kTypeKey)) return false;
  }
  return true;
}

std::string FieldReader::extra() const {
  std::string out;
  bool has_type = false;
  for (const auto entry : map_.entries()) {
    if (entry.key == kTypeKey) {
      has_type = true;
    } else if (!was_taken(entry.key)) {
      out += out.empty() ? '{' : ',';
      notes_.nuls_removed += append_json_string(out, entry.key);
      out += ':';
      notes_.nuls_removed += append_json(out, entry.value);
    } else if (std::find(blobs_.begin(), blobs_.end(), entry.key.data()) != blobs_.end()) {
      out += out.empty() ? '{' : ',';
      append_blob(out, entry.key, entry.value);
    }
  }
  if (!has_type) {
    out += out.empty() ? '{' : ',';
    out += R"("$type":null)";
  }
  if (!out.empty()) out += '}';
  return out;
}

/// Appends the members of a blob that no column has.
void FieldReader::append_blob(std::string& out, std::string_view key,
                              const atproto::Value& value) const {
  append_json_string(out, fmt::format("${}", key));
  out += R"(:{"mimeType":)";
  notes_.nuls_removed += append_json(out, *value.find("mimeType"));
  out += R"(,"size":)";
  append_json(out, *value.find("size"));
  out += '}';
}

std::string_view FieldReader::type() const {
  const auto value = map_.find(kTypeKey);
  return value && value->is_string() ? value->string() : std::string_view{};
}

bool FieldReader::check_map() {
  if (map_.is_map()) return true;
  fail({}, "must be an object");
  return false;
}

bool FieldReader::check_type() {
  has_type_ = !type().empty();
  if (has_type_) return true;
  fail(kTypeKey, map_.find(kTypeKey) ? "must be the name of a type" : "missing");
  return false;
}

std::optional<FieldReader> FieldReader::as_object(std::string_view key,
                                                  const atproto::Value& value) {
  FieldReader object(value, *this, key);
  if (!object.check_map()) return std::nullopt;
  return object;
}

std::optional<FieldReader> FieldReader::object(std::string_view key) {
  const auto value = take_required(key);
  return value ? as_object(key, *value) : std::nullopt;
}

std::optional<FieldReader> FieldReader::optional_object(std::string_view key) {
  const auto value = take(key);
  return value ? as_object(key, *value) : std::nullopt;
}

std::optional<FieldReader> FieldReader::union_object(std::string_view key) {
  auto object = this->object(key);
  if (object && !object->check_type()) return std::nullopt;
  return object;
}

std::optional<FieldReader> FieldReader::optional_union_object(std::string_view key) {
  auto object = optional_object(key);
  if (object && !object->check_type()) return std::nullopt;
  return object;
}

std::string FieldReader::json(std::string_view key) {
  std::string out;
  if (const auto value = take(key)) notes_.nuls_removed += append_json(out, *value);
  return out;
}

// These functions read fields with one value: texts, numbers, bytes, datetimes.

std::string_view FieldReader::as_text(std::string_view key, const atproto::Value& value,
                                      Format format) {
  if (!value.is_string()) {
    fail(key, "must be a string");
    return {};
  }
  const std::string_view text = value.string();
  if (const char* fault = format_fault(text, format)) fail(key, fault);
  return text;
}

std::string_view FieldReader::text(std::string_view key, Format format) {
  const auto value = take_required(key);
  return value ? as_text(key, *value, format) : std::string_view{};
}

std::optional<std::string_view> FieldReader::optional_text(std::string_view key, Format format) {
  const auto value = take(key);
  if (!value) return std::nullopt;
  return as_text(key, *value, format);
}

std::int64_t FieldReader::as_integer(std::string_view key, const atproto::Value& value) {
  if (value.is_integer()) return value.integer();
  fail(key, "must be an integer");
  return 0;
}

std::int64_t FieldReader::integer(std::string_view key) {
  const auto value = take_required(key);
  return value ? as_integer(key, *value) : 0;
}

std::optional<std::int64_t> FieldReader::optional_integer(std::string_view key) {
  const auto value = take(key);
  if (!value) return std::nullopt;
  return as_integer(key, *value);
}

std::optional<bool> FieldReader::optional_boolean(std::string_view key) {
  const auto value = take(key);
  if (!value) return std::nullopt;
  if (!value->is_boolean()) {
    fail(key, "must be a boolean");
    return std::nullopt;
  }
  return value->boolean();
}

ByteView FieldReader::bytes(std::string_view key) {
  const auto value = take_required(key);
  if (!value) return {};
  if (!value->is_bytes()) {
    fail(key, "must be bytes");
    return {};
  }
  return value->bytes();
}

TextList FieldReader::as_texts(std::string_view key, const atproto::Value& value, Format format) {
  TextList texts;
  texts.reserve(value.size());
  for (const auto item : value.items()) {
    const char* fault = item.is_string() ? format_fault(item.string(), format) : "must be a string";
    if (fault != nullptr) {
      fail(fmt::format("{}[{}]", key, texts.size()), fault);
      break;
    }
    texts.push_back(item.string());
  }
  return texts;
}

TextList FieldReader::texts(std::string_view key, Format format) {
  require(key);
  return optional_texts(key, format).value_or(TextList{});
}

std::optional<TextList> FieldReader::optional_texts(std::string_view key, Format format) {
  const auto list = take_list(key);
  if (!list) return std::nullopt;
  return as_texts(key, *list, format);
}

std::optional<Timestamp> FieldReader::as_datetime(std::string_view key,
                                                  const atproto::Value& value) {
  const std::string_view text = as_text(key, value, Format::Any);
  if (failed()) return std::nullopt;
  const auto datetime = parse_datetime(text);
  if (!datetime) {
    fail(key, "not a datetime");
    return std::nullopt;
  }
  const Timestamp instant = std::clamp(datetime->instant, kFirstTime, kLastTime);
  if (instant != datetime->instant || !is_usual_text(text, instant)) keep(key);
  return instant;
}

std::optional<Timestamp> FieldReader::datetime(std::string_view key) {
  const auto value = take_required(key);
  return value ? as_datetime(key, *value) : std::nullopt;
}

std::optional<Timestamp> FieldReader::optional_datetime(std::string_view key) {
  const auto value = take(key);
  return value ? as_datetime(key, *value) : std::nullopt;
}

ActorRef FieldReader::did(std::string_view key) {
  return {text(key, Format::Did), 0};
}

// These functions read fields that several records share: references, blobs, labels.

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
    // A column has the digest of the CID only.
    if (cid->codec != atproto::Cid::kDagCbor) keep(key);
    if (reference) reference->cid = *cid;
  } else if (atproto::is_cid_text(cid_text)) {
    // The lexicons' format allows any base, codec and hash, but the network's records have only one
    // form. A CID in another form is not a fault, but it makes no reference.
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
    object.has_type_ = true;
  } else if (value.find("cid") && !value.find("$type")) {
    blob.legacy_cid = object.text("cid");
    blob.mime_type = object.text("mimeType");
    if (!failed() && !atproto::is_cid_text(blob.legacy_cid)) object.fail("cid", "not a CID");
  } else {
    object.fail({}, "must be a blob");
  }
  if (!object.complete() || !blob.ref) {
    keep(key);
  } else if (parent_ == nullptr && blob_count_ < blobs_.size()) {
    for (const auto entry : map_.entries()) {
      if (entry.key == key) blobs_[blob_count_++] = entry.key.data();
    }
  }
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
