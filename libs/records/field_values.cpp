#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "atproto/uri.hpp"
#include "records/field_reader.hpp"

// The fields of a FieldReader with one value: texts, numbers, bytes, datetimes.

namespace skua::records {
namespace {

/// Why a text does not have a format; null: it has it.
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

}  // namespace

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
  if (!datetime->exact) keep(key);
  return datetime->instant;
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

}  // namespace skua::records
