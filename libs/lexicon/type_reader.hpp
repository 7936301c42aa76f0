#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "lexicon/schema.hpp"

namespace skua::lexicon {

/// Reads the types of one lexicon document into a schema. References stay nodes of the kind
/// Reference whose only text is the full name, without `#main`. Errors: LexiconError with the path.
/// Lives for one document.
class TypeReader {
 public:
  TypeReader(Schema& schema, std::string_view document) : schema_(schema), document_(document) {}

  /// A type, wherever it stands. `path`: for errors.
  NodeIndex type(const nlohmann::json& json, const std::string& path);
  /// A type that must be an object.
  NodeIndex object(const nlohmann::json& json, const std::string& path);

  /// A member that must be a text.
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

  /// `minLength` and `maxLength`.
  void read_lengths(const nlohmann::json& json, const std::string& path, Node& node) const;
  std::optional<std::int64_t> integer(const nlohmann::json& json, const char* key,
                                      const std::string& path) const;
  std::optional<std::int64_t> length(const nlohmann::json& json, const char* key,
                                     const std::string& path) const;
  std::optional<std::vector<std::string>> texts(const nlohmann::json& json, const char* key,
                                                const std::string& path) const;
  /// `app.bsky.embed.defs#aspectRatio` of that text or of `#aspectRatio`.
  std::string full_name(const std::string& reference, const std::string& path) const;

  Schema& schema_;
  std::string_view document_;
  int depth_ = 0;
};

}  // namespace skua::lexicon
