#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "lexicon/schema.hpp"

namespace skua::lexicon {

/// The error of a lexicon document that a person wrote, as a message for that person: the id of the
/// document, the path of the field, and a message.
class LexiconError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the types of one lexicon document into a schema. A reference stays a node of the kind
/// Reference, whose only text is the full name without `#main`. Throws LexiconError with the path.
/// A TypeReader lives for one document.
class TypeReader {
 public:
  TypeReader(Schema& schema, std::string_view document) : schema_(schema), document_(document) {}

  /// Reads a type at any position of the document. `path` is used in errors.
  NodeIndex type(const nlohmann::json& json, const std::string& path);
  /// Reads a type that must be an object.
  NodeIndex object(const nlohmann::json& json, const std::string& path);

  /// Reads a member that must be a text.
  std::string text(const nlohmann::json& json, const char* key, const std::string& path) const;
  [[noreturn]] void fail(const std::string& path, std::string_view message) const;

 private:
  void read_object(const nlohmann::json& json, const std::string& path, Node& node);
  void read_array(const nlohmann::json& json, const std::string& path, Node& node);
  void read_union(const nlohmann::json& json, const std::string& path, Node& node);
  void read_string(const nlohmann::json& json, const std::string& path, Node& node);
  void read_integer(const nlohmann::json& json, const std::string& path, Node& node);
  void read_boolean(const nlohmann::json& json, const std::string& path, Node& node);
  void read_blob(const nlohmann::json& json, const std::string& path, Node& node);

  /// Reads `minLength` and `maxLength`.
  void read_lengths(const nlohmann::json& json, const std::string& path, Node& node) const;
  std::optional<std::int64_t> integer(const nlohmann::json& json, const char* key,
                                      const std::string& path) const;
  std::optional<std::int64_t> length(const nlohmann::json& json, const char* key,
                                     const std::string& path) const;
  std::optional<std::vector<std::string>> texts(const nlohmann::json& json, const char* key,
                                                const std::string& path) const;
  /// Returns `app.bsky.embed.defs#aspectRatio` both for this text and, within app.bsky.embed.defs,
  /// for `#aspectRatio`.
  std::string full_name(const std::string& reference, const std::string& path) const;

  Schema& schema_;
  std::string_view document_;
  int depth_ = 0;
};

/// Makes a schema from lexicon documents in JSON, version 1 of the language
/// (atproto.com/specs/lexicon). Definitions that describe no record (queries, procedures,
/// subscriptions, permission sets, tokens) are checked and left out. Fields that the language does
/// not know are ignored, and also `description`, `default`, `knownValues` and the `key` of a
/// record.
class SchemaBuilder {
 public:
  /// Adds a document. Throws LexiconError; the builder must not be used after this.
  void add(std::string_view json);

  /// Resolves all references. Throws LexiconError if a definition is missing or has no value.
  Schema build() &&;

 private:
  NodeIndex resolved(NodeIndex index) const;

  Schema schema_;
  std::set<std::string, std::less<>> documents_;
  /// The definitions by full name without `#main`. A definition without a value has no node.
  std::map<std::string, std::optional<NodeIndex>, std::less<>> definitions_;
};

}  // namespace skua::lexicon
