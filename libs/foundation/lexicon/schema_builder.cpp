#include "lexicon/schema_builder.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"

namespace skua::lexicon {

namespace {

using nlohmann::json;

/// The largest depth to which types may be nested in each other.
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

/// These definitions must be called `main`. Of them only a record has a value.
constexpr std::array<std::string_view, 5> kPrimaryTypes = {"record", "query", "procedure",
                                                           "subscription", "permission-set"};
/// These types cannot be a definition, only a part of a definition.
constexpr std::array<std::string_view, 3> kPartTypes = {"ref", "union", "unknown"};

template <class List>
bool has_name(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_definition_name(std::string_view name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

json parsed(std::string_view text) {
  json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) throw LexiconError("not JSON");
  if (!document.is_object()) throw LexiconError("must be an object");
  return document;
}

std::string id_of(const json& document) {
  const auto id = document.find("id");
  if (id == document.end() || !id->is_string() || !atproto::is_nsid(id->get<std::string>())) {
    throw LexiconError("id: must be an NSID");
  }
  return id->get<std::string>();
}

/// Returns the node of a definition, or nothing if the definition has no value.
std::optional<NodeIndex> read_definition(TypeReader& types, const json& definition,
                                         const std::string& name) {
  const std::string path = "defs." + name;
  if (!definition.is_object()) types.fail(path, "must be an object");
  const std::string type = types.text(definition, "type", path);
  const bool is_primary = has_name(kPrimaryTypes, type);
  if (is_primary && name != "main") types.fail(path, "must be called main");
  if (has_name(kPartTypes, type)) types.fail(path + ".type", "cannot be a definition");
  if (type == "record") {
    const auto record = definition.find("record");
    if (record == definition.end()) types.fail(path + ".record", "missing");
    return types.object(*record, path + ".record");
  }
  if (is_primary || type == "token") return std::nullopt;
  return types.type(definition, path);
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
  // Refuses an unsigned number above the signed range, which would become negative.
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

void SchemaBuilder::add(std::string_view text) {
  const json document = parsed(text);
  const std::string id = id_of(document);
  TypeReader types(schema_, id);
  const auto version = document.find("lexicon");
  if (version == document.end() || *version != 1) types.fail("lexicon", "must be 1");
  if (!documents_.insert(id).second) types.fail("id", "has a document already");
  const auto definitions = document.find("defs");
  if (definitions == document.end() || !definitions->is_object() || definitions->empty()) {
    types.fail("defs", "must be an object with definitions");
  }
  for (const auto& [name, definition] : definitions->items()) {
    if (!is_definition_name(name)) types.fail("defs." + name, "is not a name");
    const auto node = read_definition(types, definition, name);
    definitions_.emplace(name == "main" ? id : fmt::format("{}#{}", id, name), node);
    if (node && definition["type"] == "record") schema_.records_.emplace(id, *node);
  }
}

NodeIndex SchemaBuilder::resolved(NodeIndex index) const {
  const Node& node = schema_.nodes_[index];
  if (node.kind != Kind::Reference) return index;
  const std::string& name = schema_.texts_[node.parts.first];
  const auto found = definitions_.find(name);
  if (found == definitions_.end()) throw LexiconError(fmt::format("{}: is not defined", name));
  if (!found->second) throw LexiconError(fmt::format("{}: is a definition without a value", name));
  return *found->second;
}

Schema SchemaBuilder::build() && {
  for (Node& node : schema_.nodes_) {
    if (node.kind == Kind::Array) node.items = resolved(node.items);
  }
  for (Field& field : schema_.fields_) field.node = resolved(field.node);
  for (Member& member : schema_.members_) member.node = resolved(member.node);
  return std::move(schema_);
}

}  // namespace skua::lexicon
