#include "lexicon/lexicon_rules.hpp"

#include <stdexcept>
#include <utility>

#include "event/json_event.hpp"
#include "lexicon/schema_builder.hpp"
#include "lexicon/violation.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::test {

json strong_ref() {
  return {{"uri", kUri}, {"cid", "bafyreid27zk7lbis4zw5fz4podbvbs4fc5ivwji3dmrwa6zggnj4bnd57u"}};
}

json blob(const std::string& mime_type, std::int64_t size) {
  return {{"$type", "blob"},
          {"ref", {{"$link", "bafkreias7oxbr6swsuggccmtnqpoeami4jza5x4w3urltn6gzhqf4k6k2e"}}},
          {"mimeType", mime_type},
          {"size", size}};
}

std::optional<std::string> violation_of(const lexicon::Schema& schema, std::string_view collection,
                                        const json& record) {
  const auto* type = schema.record(collection);
  if (type == nullptr) throw std::runtime_error("no lexicon: " + std::string(collection));
  const auto block = event::json_to_dag_cbor(record);
  if (!block) throw std::runtime_error(block.error().message());
  atproto::Document document;
  if (const auto read = repo::read_dag_cbor(*block, document, {}); !read) {
    throw std::runtime_error(read.error().message());
  }
  return lexicon::find_violation(schema, *type, document.root());
}

lexicon::Schema schema_of(const json& document) {
  lexicon::SchemaBuilder builder;
  builder.add(document.dump());
  return std::move(builder).build();
}

lexicon::Schema schema_of_fields(const json& properties) {
  const json record = {{"type", "object"}, {"properties", properties}};
  return schema_of(
      {{"lexicon", 1},
       {"id", "com.example.record"},
       {"defs", {{"main", {{"type", "record"}, {"key", "any"}, {"record", record}}}}}});
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (; times > 0; --times) all += text;
  return all;
}

}  // namespace skua::test
