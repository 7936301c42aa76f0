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

/// Returns the files of apps/skua-sim/texts, sorted by name. The texts live as long as the program.
std::vector<TextFile> text_files();

/// Makes random texts of the sections of a text file, whose format apps/skua-sim/texts/common.txt
/// explains. Immutable after the calls of `add`, so that many threads may read it.
class Phrases {
 public:
  /// Adds the sections of a file. Throws std::logic_error with the line if the line has no section
  /// before it, names a section that is not defined before it, or defines a section again.
  void add(std::string_view text);

  /// Returns the number of a section. Throws std::logic_error if the section is missing or empty.
  std::size_t section(std::string_view name) const;

  /// Appends a random text of a section about `topic`.
  void append(std::string& out, std::size_t section, Random& random, std::string_view topic) const;
  std::string make(std::size_t section, Random& random, std::string_view topic) const;

 private:
  /// A literal that precedes a random text of a section.
  struct Piece {
    std::string literal;
    std::size_t section;
  };
  using Template = std::vector<Piece>;

  Template parse(std::string_view line) const;

  std::map<std::string, std::size_t, std::less<>> names_;
  std::vector<std::vector<Template>> sections_;
};

/// The kinds of texts. The sections of a language's file have these names (`kTextNames`).
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

  /// Returns the language tag (BCP 47).
  const std::string& tag() const { return tag_; }
  /// Returns the weight of the language in the network.
  double share() const { return share_; }
  std::size_t topics() const { return topics_.size(); }
  /// Returns the text between two words or sentences: a space, or nothing.
  std::string_view space() const { return space_; }
  /// Returns a topic as a hashtag without `#`.
  const std::string& hashtag(std::size_t topic) const { return topics_[topic].hashtag; }

  std::string make(Text kind, Random& random, std::size_t topic) const;

 private:
  struct Topic {
    std::string words;
    std::string hashtag;
  };

  /// Reads the text before the first section that is not [topic]. Returns the rest.
  std::string_view read_head(std::string_view text);
  void add_topic(std::string_view line);

  std::string tag_;
  double share_ = 0;
  std::string space_ = " ";
  std::vector<Topic> topics_;
  Phrases phrases_;
  std::array<std::size_t, kTextNames.size()> sections_{};
};

/// Returns all languages, which are read at the first call.
const std::vector<Language>& languages();

/// Returns the sections of common.txt, which belong to no language.
const Phrases& common_phrases();

/// The language and the topic of texts. Both are derived from a DID or a URI, so that all posts of
/// a thread have one language and one topic, and nothing has to be stored.
struct Theme {
  const Language* language;
  std::size_t topic;

  std::string make(Text kind, Random& random) const { return language->make(kind, random, topic); }
  const std::string& hashtag() const { return language->hashtag(topic); }
};

/// Returns the language in which an account writes.
const Language& language_of_account(std::string_view did);
/// Returns the language and the favourite topic of an account.
Theme theme_of_account(std::string_view did);
/// Returns the theme of a thread: the theme of the account that started the thread, or another
/// topic in the language of this account. `root` is the URI of the first post.
Theme theme_of_thread(std::string_view root);
/// Returns a theme for any other text, in the language of an account.
Theme random_theme(Random& random, std::string_view did);
/// Returns the display name of an account.
std::string display_name_of(std::string_view did);

/// Returns the first part of a handle, such as `quiet-heron42`. It has lower-case letters, digits,
/// and hyphens within.
std::string random_name(Random& random);

/// Returns a lower-case English word.
std::string random_word(Random& random);

/// Returns the value of a label.
std::string random_label(Random& random);

/// Returns the domain of a fictional site, such as `quietheron.example`.
std::string random_domain(Random& random);

/// Returns a web address of a fictional site.
std::string random_link(Random& random);

}  // namespace skua::sim
