#include "lexicon/type_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "lexicon/lexicon_error.hpp"

namespace skua::lexicon {
namespace {

using nlohmann::json;

/// How deep types may be nested in each other.
constexpr int kMaxTypeDepth = 32;

constexpr std::array<std::pair<std::string_view, Kind>, 12> kKinds = {{{"null", Kind::Null},
                                                                       {"boolean", Kind::Boolean},
                                                                       {"integer", Kind::Integer},
                                                                       {"string", Kind::String},
                                                                       {"bytes", Kind::Bytes},
                                                                       {"cid-link", Kind::CidLink},
                                                                       {"blob", Kind::Blob},
                                                                       {"array", Kind::Array},
                                                                       {"object", Kind::Object},
                                                                       {"union", Kind::Union},
                                                                       {"unknown", Kind::Unknown},
                                                                       {"ref", Kind::Reference}}};

constexpr std::array<std::pair<std::string_view, Format>, 11> kFormats = {
    {{"at-identifier", Format::AtIdentifier},
     {"at-uri", Format::AtUri},
     {"cid", Format::Cid},
     {"datetime", Format::Datetime},
     {"did", Format::Did},
     {"handle", Format::Handle},
     {"language", Format::Language},
     {"nsid", Format::Nsid},
     {"record-key", Format::RecordKey},
     {"tid", Format::Tid},
     {"uri", Format::Uri}}};

template <class Table>
auto find_name(const Table& table, std::string_view name) {
  return std::find_if(table.begin(), table.end(),
                      [name](const auto& entry) { return entry.first == name; });
}

bool has_text(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

void TypeReader::fail(const std::string& path, std::string_view message) const {
  throw LexiconError(fmt::format("{}: {}: {}", document_, path, message));
}

std::string TypeReader::text(const json& json, const char* key, const std::string& path) const {
  const auto* value = member(json, key);
  if (value == nullptr) fail(path + '.' + key, "missing");
  if (!value->is_string()) fail(path + '.' + key, "must be a string");
  return value->get<std::string>();
}

std::optional<std::int64_t> TypeReader::integer(const json& json, const char* key,
                                                const std::string& path) const {
  const auto* value = member(json, key);
  if (value == nullptr) return std::nullopt;
  // An unsigned number above the signed range would turn negative.
  if (!value->is_number_integer() ||
      (value->is_number_unsigned() &&
       value->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())) {
    fail(path + '.' + key, "must be an integer");
  }
  return value->get<std::int64_t>();
}

std::optional<std::int64_t> TypeReader::length(const json& json, const char* key,
                                               const std::string& path) const {
  const auto value = integer(json, key, path);
  if (value && (*value < 0 || *value > std::numeric_limits<std::uint32_t>::max())) {
    fail(path + '.' + key, "must be from 0 to 4294967295");
  }
  return value;
}

std::optional<std::vector<std::string>> TypeReader::texts(const json& json, const char* key,
                                                          const std::string& path) const {
  const auto* value = member(json, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) fail(path + '.' + key, "must be a list");
  std::vector<std::string> list;
  for (const auto& item : *value) {
    if (!item.is_string()) fail(path + '.' + key, "must be a list of strings");
    list.push_back(item.get<std::string>());
  }
  return list;
}

std::string TypeReader::full_name(const std::string& reference, const std::string& path) const {
  std::string name = reference.starts_with('#') ? std::string(document_) + reference : reference;
  const std::size_t hash = name.find('#');
  if (!atproto::is_nsid(name.substr(0, hash)) || hash == name.size() - 1) {
    fail(path, "must be the name of a definition");
  }
  if (name.ends_with("#main")) name.resize(hash);
  return name;
}

NodeIndex TypeReader::object(const json& json, const std::string& path) {
  if (!json.is_object()) fail(path, "must be an object");
  if (text(json, "type", path) != "object") fail(path + ".type", "must be object");
  return type(json, path);
}

NodeIndex TypeReader::type(const json& json, const std::string& path) {
  if (!json.is_object()) fail(path, "must be an object");
  const auto kind = find_name(kKinds, text(json, "type", path));
  if (kind == kKinds.end()) fail(path + ".type", "is not the name of a type");
  if (++depth_ > kMaxTypeDepth) fail(path, "is nested too deeply");

  Node node;
  node.kind = kind->second;
  switch (node.kind) {
    case Kind::Null:
    case Kind::CidLink:
    case Kind::Unknown:
      break;
    case Kind::Boolean:
      read_boolean(json, path, node);
      break;
    case Kind::Integer:
      read_integer(json, path, node);
      break;
    case Kind::String:
      read_string(json, path, node);
      break;
    case Kind::Bytes:
      read_lengths(json, path, node);
      break;
    case Kind::Blob:
      read_blob(json, path, node);
      break;
    case Kind::Array:
      read_array(json, path, node);
      break;
    case Kind::Object:
      read_object(json, path, node);
      break;
    case Kind::Union:
      read_union(json, path, node);
      break;
    case Kind::Reference:
      node.parts = Schema::append(schema_.texts_, {full_name(text(json, "ref", path), path)});
      break;
  }
  --depth_;
  schema_.nodes_.push_back(node);
  return static_cast<NodeIndex>(schema_.nodes_.size() - 1);
}

void TypeReader::read_object(const json& json, const std::string& path, Node& node) {
  const auto required = texts(json, "required", path).value_or(std::vector<std::string>{});
  const auto nullable = texts(json, "nullable", path).value_or(std::vector<std::string>{});
  std::vector<Field> fields;
  if (const auto* properties = member(json, "properties")) {
    if (!properties->is_object()) fail(path + ".properties", "must be an object");
    for (const auto& [key, property] : properties->items()) {
      const NodeIndex index = type(property, fmt::format("{}.properties.{}", path, key));
      fields.push_back({key, index, has_text(required, key), has_text(nullable, key)});
    }
  }
  for (const std::string& key : required) {
    if (std::none_of(fields.begin(), fields.end(),
                     [&](const Field& field) { return field.key == key; })) {
      fail(path + ".required", "names no property: " + key);
    }
  }
  node.required = static_cast<std::uint32_t>(
      std::count_if(fields.begin(), fields.end(), [](const Field& f) { return f.required; }));
  node.parts = Schema::append(schema_.fields_, std::move(fields));
}

void TypeReader::read_array(const json& json, const std::string& path, Node& node) {
  const auto* items = member(json, "items");
  if (items == nullptr) fail(path + ".items", "missing");
  read_lengths(json, path, node);
  node.items = type(*items, path + ".items");
}

void TypeReader::read_union(const json& json, const std::string& path, Node& node) {
  const auto refs = texts(json, "refs", path);
  if (!refs) fail(path + ".refs", "missing");
  if (const auto* closed = member(json, "closed")) {
    if (!closed->is_boolean()) fail(path + ".closed", "must be a boolean");
    node.closed = closed->get<bool>();
  }
  std::vector<Member> members;
  for (const std::string& ref : *refs) {
    Node reference;
    reference.kind = Kind::Reference;
    std::string name = full_name(ref, path + ".refs");
    reference.parts = Schema::append(schema_.texts_, {name});
    schema_.nodes_.push_back(reference);
    members.push_back({std::move(name), static_cast<NodeIndex>(schema_.nodes_.size() - 1)});
  }
  node.parts = Schema::append(schema_.members_, std::move(members));
}

void TypeReader::read_lengths(const json& json, const std::string& path, Node& node) const {
  node.minimum = length(json, "minLength", path).value_or(node.minimum);
  node.maximum = length(json, "maxLength", path).value_or(node.maximum);
}

void TypeReader::read_string(const json& json, const std::string& path, Node& node) {
  read_lengths(json, path, node);
  if (const auto least = length(json, "minGraphemes", path)) {
    node.min_graphemes = static_cast<std::uint32_t>(*least);
  }
  if (const auto most = length(json, "maxGraphemes", path)) {
    node.max_graphemes = static_cast<std::uint32_t>(*most);
  }
  if (json.contains("format")) {
    const auto format = find_name(kFormats, text(json, "format", path));
    if (format == kFormats.end()) fail(path + ".format", "is not the name of a format");
    node.format = format->second;
  }
  auto allowed = texts(json, "enum", path);
  if (allowed && allowed->empty()) fail(path + ".enum", "must not be empty");
  if (json.contains("const")) allowed = {text(json, "const", path)};
  if (allowed) node.parts = Schema::append(schema_.texts_, std::move(*allowed));
}

void TypeReader::read_integer(const json& json, const std::string& path, Node& node) {
  node.minimum = integer(json, "minimum", path).value_or(node.minimum);
  node.maximum = integer(json, "maximum", path).value_or(node.maximum);
  std::vector<std::int64_t> allowed;
  if (const auto* list = member(json, "enum")) {
    if (!list->is_array() || list->empty()) fail(path + ".enum", "must be a list of integers");
    for (const auto& item : *list) {
      if (!item.is_number_integer()) fail(path + ".enum", "must be a list of integers");
      allowed.push_back(item.get<std::int64_t>());
    }
  }
  if (const auto only = integer(json, "const", path)) allowed = {*only};
  node.parts = Schema::append(schema_.numbers_, std::move(allowed));
}

void TypeReader::read_boolean(const json& json, const std::string& path, Node& node) {
  const auto* only = member(json, "const");
  if (only == nullptr) return;
  if (!only->is_boolean()) fail(path + ".const", "must be a boolean");
  node.parts = Schema::append(schema_.numbers_, {std::int64_t{only->get<bool>() ? 1 : 0}});
}

void TypeReader::read_blob(const json& json, const std::string& path, Node& node) {
  if (auto accept = texts(json, "accept", path)) {
    node.parts = Schema::append(schema_.texts_, std::move(*accept));
  }
  if (const auto most = integer(json, "maxSize", path)) node.maximum = *most;
}

}  // namespace skua::lexicon
