#include "records/field_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "records/json_text.hpp"

namespace skua::records {
namespace {

constexpr std::string_view kTypeKey = "$type";

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
    if (!was_taken(entry.key) && entry.key != kTypeKey) return false;
  }
  return true;
}

std::string FieldReader::extra() const {
  std::string out;
  for (const auto entry : map_.entries()) {
    if (was_taken(entry.key) || entry.key == kTypeKey) continue;
    out += out.empty() ? '{' : ',';
    notes_.nuls_removed += append_json_string(out, entry.key);
    out += ':';
    notes_.nuls_removed += append_json(out, entry.value);
  }
  if (!out.empty()) out += '}';
  return out;
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
  if (!type().empty()) return true;
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

}  // namespace skua::records
