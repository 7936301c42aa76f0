#include "lexicon/built_in.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "lexicon/schema_builder.hpp"

namespace skua::lexicon {

const Schema& built_in_schema() {
  static const Schema schema = [] {
    SchemaBuilder builder;
    for (const std::string_view document : built_in_documents()) builder.add(document);
    return std::move(builder).build();
  }();
  return schema;
}

const Node& built_in_record(std::string_view collection) {
  const Node* const record = built_in_schema().record(collection);
  if (record == nullptr) throw std::logic_error("no lexicon of " + std::string(collection));
  return *record;
}

}  // namespace skua::lexicon
