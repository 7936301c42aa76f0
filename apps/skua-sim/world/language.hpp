#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "phrases.hpp"
#include "random.hpp"
#include "text_files.hpp"

namespace skua::sim {

/// What a text is. The sections of a language's file have these names (`kTextNames`).
enum class Text : std::uint8_t {
  post,
  more,  // a sentence that continues a post
  reply,
  quote,  // beside a quoted record
  name,   // of an account
  biography,
  alt,      // of an image or a video
  title,    // of a web page
  summary,  // of a web page
  list,     // names of lists, feeds and starter packs
  feed,
  pack,
  about,  // of a list, a feed or a starter pack
  book,   // the title
  note,   // about a book
  plant,
  emoji,
};

inline constexpr std::array<std::string_view, 17> kTextNames = {
    "post", "more", "reply", "quote", "name", "biography", "alt",   "title", "summary",
    "list", "feed", "pack",  "about", "book", "note",      "plant", "emoji"};

/// A language of the network, from its file in apps/skua-sim/texts. Immutable.
class Language {
 public:
  /// Throws std::logic_error if the file has no tag, share or topic, or if a text is missing.
  Language(std::string_view common, TextFile file);

  /// A language tag (BCP 47).
  const std::string& tag() const { return tag_; }
  /// The weight of the language in the network.
  double share() const { return share_; }
  std::size_t topics() const { return topics_.size(); }
  /// The text between two words or sentences: a space, or nothing.
  std::string_view space() const { return space_; }
  /// A topic as a hashtag without `#`.
  const std::string& hashtag(std::size_t topic) const { return topics_[topic].hashtag; }

  std::string make(Text kind, Random& random, std::size_t topic) const;

 private:
  struct Topic {
    std::string words;
    std::string hashtag;
  };

  /// Reads the text before the first section that is not [topic]; returns the rest.
  std::string_view read_head(std::string_view text);
  void add_topic(std::string_view line);

  std::string tag_;
  double share_ = 0;
  std::string space_ = " ";
  std::vector<Topic> topics_;
  Phrases phrases_;
  std::array<std::size_t, kTextNames.size()> sections_{};
};

/// All languages, which are read at the first call.
const std::vector<Language>& languages();

/// The sections of common.txt, which belong to no language.
const Phrases& common_phrases();

}  // namespace skua::sim
