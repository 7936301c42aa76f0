#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "random.hpp"
#include "subjects.hpp"
#include "words.hpp"

namespace skua::sim {

/// A text with app.bsky.richtext.facet: text is appended, and offsets count UTF-8 bytes.
class RichText {
 public:
  void words(std::string_view text) { text_ += text; }
  void mention(std::string_view handle, const std::string& did);
  void link(const std::string& uri);
  void tag(std::string_view tag);

  const std::string& text() const { return text_; }
  /// A JSON array, maybe empty.
  const nlohmann::json& facets() const { return facets_; }

 private:
  void facet(std::string_view shown, nlohmann::json feature);

  std::string text_;
  nlohmann::json facets_ = nlohmann::json::array();
};

/// A web address of a fictional site.
std::string random_link(Random& random);

/// A post's text of about `bytes` bytes, which may mention, link and tag. At most 300 graphemes if
/// `bytes` is at most the size of 230 characters.
RichText random_rich_text(Random& random, const Subjects& subjects, Script script,
                          std::size_t bytes);

}  // namespace skua::sim
