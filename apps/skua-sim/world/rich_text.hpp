#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "world/language.hpp"
#include "world/random.hpp"
#include "world/subjects.hpp"

namespace skua::sim {

/// A text with app.bsky.richtext.facet. Each call appends text, and offsets count UTF-8 bytes.
class RichText {
 public:
  void words(std::string_view text) { text_ += text; }
  void mention(std::string_view handle, const std::string& did);
  void link(const std::string& uri);
  void tag(std::string_view tag);

  const std::string& text() const { return text_; }
  /// Returns a JSON array, which may be empty.
  const nlohmann::json& facets() const { return facets_; }

 private:
  void facet(std::string_view shown, nlohmann::json feature);

  std::string text_;
  nlohmann::json facets_ = nlohmann::json::array();
};

/// Returns words with at most two mentions, links or hashtags of the theme, one of them before the
/// words. These take at most 90 characters.
RichText random_rich_text(Random& random, const Subjects& subjects, const Theme& theme,
                          std::string_view words);

}  // namespace skua::sim
