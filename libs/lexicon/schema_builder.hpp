#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lexicon/schema.hpp"

namespace skua::lexicon {

/// Makes a schema from lexicon documents in JSON, version 1 of the language
/// (atproto.com/specs/lexicon). Definitions that describe no record (queries, procedures,
/// subscriptions, permission sets, tokens) are read and left out. Fields that the language does not
/// know are ignored, and so are `description`, `default`, `knownValues` and the `key` of a record.
class SchemaBuilder {
 public:
  /// Adds a document. Throws LexiconError; the builder is then of no use.
  void add(std::string_view json);

  /// Resolves all references. Throws LexiconError when a definition is missing, or has no value.
  Schema build() &&;

 private:
  NodeIndex resolved(NodeIndex index) const;

  Schema schema_;
  std::set<std::string, std::less<>> documents_;
  /// By full name, without `#main`. Nothing: the definition has no value.
  std::map<std::string, std::optional<NodeIndex>, std::less<>> definitions_;
};

}  // namespace skua::lexicon
