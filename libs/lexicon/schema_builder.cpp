#include "lexicon/schema_builder.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "lexicon/lexicon_error.hpp"
#include "lexicon/type_reader.hpp"

namespace skua::lexicon {
namespace {

using nlohmann::json;

/// Definitions that must be called `main`; of these only a record has a value.
constexpr std::array<std::string_view, 5> kPrimaryTypes = {"record", "query", "procedure",
                                                           "subscription", "permission-set"};
/// Types that cannot be a definition, only a part of one.
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

/// The node of a definition; nothing when it has no value.
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
