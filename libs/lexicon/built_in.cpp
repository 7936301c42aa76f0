#include "lexicon/built_in.hpp"

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

}  // namespace skua::lexicon
