#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "world/random.hpp"

namespace skua::sim {

struct TextFile {
  std::string_view name;  // without .txt
  std::string_view text;
};

/// The files of apps/skua-sim/texts, in the order of their names. They live as long as the program.
std::vector<TextFile> text_files();

/// Random texts made of the sections of a text file, whose format apps/skua-sim/texts/common.txt
/// explains. Immutable after `add`: many threads may read it.
class Phrases {
 public:
  /// Adds the sections of a file. Throws std::logic_error with the line that has no section before
  /// it, names a section that is not defined before it, or defines one again.
  void add(std::string_view text);

  /// The number of a section. Throws std::logic_error if it is missing or empty.
  std::size_t section(std::string_view name) const;

  /// Appends a random text of a section about `topic`.
  void append(std::string& out, std::size_t section, Random& random, std::string_view topic) const;
  std::string make(std::size_t section, Random& random, std::string_view topic) const;

 private:
  /// A literal, and then a random text of a section.
  struct Piece {
    std::string literal;
    std::size_t section;
  };
  using Template = std::vector<Piece>;

  Template parse(std::string_view line) const;

  std::map<std::string, std::size_t, std::less<>> names_;
  std::vector<std::vector<Template>> sections_;
};

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

/// The language and the topic of texts. Both follow from a DID or a URI, so that all posts of a
/// thread are in one language and about one topic, and nothing has to be remembered.
struct Theme {
  const Language* language;
  std::size_t topic;

  std::string make(Text kind, Random& random) const { return language->make(kind, random, topic); }
  const std::string& hashtag() const { return language->hashtag(topic); }
};

/// The language in which an account writes.
const Language& language_of_account(std::string_view did);
/// Its language and its favourite topic.
Theme theme_of_account(std::string_view did);
/// What a thread is about: the theme of the account that started it, or another topic in its
/// language. `root`: the URI of the first post.
Theme theme_of_thread(std::string_view root);
/// A theme for anything else, in the language of an account.
Theme random_theme(Random& random, std::string_view did);
/// The display name of an account.
std::string display_name_of(std::string_view did);

/// The first part of a handle: `quiet-heron42`. Lower-case letters, digits, and hyphens within.
std::string random_name(Random& random);

/// A lower-case English word.
std::string random_word(Random& random);

/// The value of a label.
std::string random_label(Random& random);

/// The domain of a fictional site: `quietheron.example`.
std::string random_domain(Random& random);

/// A web address of such a site.
std::string random_link(Random& random);

}  // namespace skua::sim
