#include "world/language.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace skua::sim {

namespace {

/// The share of threads about the favourite topic of their author.
constexpr double kFavourite = 0.5;

/// Returns the DID of a URI `at://DID/...`.
std::string_view account_in(std::string_view uri) {
  constexpr std::size_t kScheme = 5;
  uri.remove_prefix(std::min(kScheme, uri.size()));
  return uri.substr(0, uri.find('/'));
}

const Language& random_language(Random& random) {
  static const std::vector<double> shares = [] {
    std::vector<double> all;
    for (const Language& language : languages()) all.push_back(language.share());
    return all;
  }();
  return languages()[random.weighted(shares)];
}

std::string make(std::string_view section, Random& random) {
  const Phrases& phrases = common_phrases();
  return phrases.make(phrases.section(section), random, {});
}

// These values are the numbers of no section. They stand for the parts of a template that are not
// sections.
constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kTopic = kNothing - 1;
constexpr std::size_t kCapitalTopic = kNothing - 2;
constexpr std::size_t kNumber = kNothing - 3;

/// Appends a text with a capital first letter. Letters beyond ASCII stay unchanged.
void append_capital(std::string& out, std::string_view text) {
  const std::size_t begin = out.size();
  out += text;
  if (begin < out.size() && out[begin] >= 'a' && out[begin] <= 'z') out[begin] += 'A' - 'a';
}

constexpr std::string_view kCommon = "common";

std::string_view common_text() {
  for (const TextFile& file : text_files()) {
    if (file.name == kCommon) return file.text;
  }
  throw std::logic_error("texts: no file common.txt");
}

}  // namespace

const Language& language_of_account(std::string_view did) {
  Random random = random_of(did);
  return random_language(random);
}

Theme theme_of_account(std::string_view did) {
  Random random = random_of(did);
  const Language& language = random_language(random);
  return {&language, random.below(language.topics())};
}

Theme theme_of_thread(std::string_view root) {
  const Theme favourite = theme_of_account(account_in(root));
  Random random = random_of(root);
  if (random.chance(kFavourite)) return favourite;
  return {favourite.language, random.below(favourite.language->topics())};
}

Theme random_theme(Random& random, std::string_view did) {
  const Language& language = language_of_account(did);
  return {&language, random.below(language.topics())};
}

std::string display_name_of(std::string_view did) {
  Random random = random_of(did);
  return theme_of_account(did).make(Text::name, random);
}

std::string random_name(Random& random) {
  return make("handle", random);
}

std::string random_word(Random& random) {
  return make("word", random);
}

std::string random_label(Random& random) {
  return make("label", random);
}

std::string random_domain(Random& random) {
  return make("site", random) + ".example";
}

std::string random_link(Random& random) {
  std::string uri = "https://" + random_domain(random) + "/" + make("slug", random);
  if (random.chance(0.3)) uri += "?ref=" + std::to_string(random.below(100'000));
  return uri;
}

void Phrases::add(std::string_view text) {
  bool in_section = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      const std::string name(line.substr(1, line.size() - 2));
      if (!names_.emplace(name, sections_.size()).second) {
        throw std::logic_error("defined again: " + std::string(line));
      }
      sections_.emplace_back();
      in_section = true;
      continue;
    }
    if (!in_section) throw std::logic_error("no section before: " + std::string(line));
    sections_.back().push_back(parse(line));
  }
}

/// Parses a template. A section cannot contain itself, because the names in it are those of earlier
/// sections.
Phrases::Template Phrases::parse(std::string_view line) const {
  Template pieces;
  while (!line.empty()) {
    const std::size_t open = line.find('{');
    Piece piece{std::string(line.substr(0, open)), kNothing};
    line.remove_prefix(std::min(open, line.size()));
    if (!line.empty()) {
      const std::size_t close = line.find('}');
      if (close == std::string_view::npos) throw std::logic_error("no } in: " + std::string(line));
      const std::string_view name = line.substr(1, close - 1);
      line.remove_prefix(close + 1);
      if (name == "topic") {
        piece.section = kTopic;
      } else if (name == "Topic") {
        piece.section = kCapitalTopic;
      } else if (name == "number") {
        piece.section = kNumber;
      } else {
        piece.section = section(name);
        if (piece.section + 1 == sections_.size()) {
          throw std::logic_error("contains itself: " + std::string(name));
        }
      }
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::size_t Phrases::section(std::string_view name) const {
  const auto found = names_.find(name);
  if (found == names_.end() || sections_[found->second].empty()) {
    throw std::logic_error("no section [" + std::string(name) + "], or it is empty");
  }
  return found->second;
}

void Phrases::append(std::string& out, std::size_t section, Random& random,
                     std::string_view topic) const {
  for (const Piece& piece : random.pick(sections_[section])) {
    out += piece.literal;
    switch (piece.section) {
      case kNothing:
        break;
      case kTopic:
        out += topic;
        break;
      case kCapitalTopic:
        append_capital(out, topic);
        break;
      case kNumber:
        out += std::to_string(random.between(2, 99));
        break;
      default:
        append(out, piece.section, random, topic);
    }
  }
}

std::string Phrases::make(std::size_t section, Random& random, std::string_view topic) const {
  std::string text;
  append(text, section, random, topic);
  return text;
}

Language::Language(std::string_view common, TextFile file) try {
  phrases_.add(common);
  phrases_.add(read_head(file.text));
  if (tag_.empty() || share_ <= 0 || topics_.empty()) {
    throw std::logic_error("no tag, share or topic");
  }
  std::transform(kTextNames.begin(), kTextNames.end(), sections_.begin(),
                 [this](std::string_view name) { return phrases_.section(name); });
} catch (const std::logic_error& error) {
  throw std::logic_error("texts/" + std::string(file.name) + ".txt: " + error.what());
}

std::string_view Language::read_head(std::string_view text) {
  constexpr std::string_view kTag = "tag: ";
  constexpr std::string_view kShare = "share: ";
  constexpr std::string_view kNoSpace = "space: none";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with('[') && line != "[topic]") break;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(kTag)) {
      tag_ = line.substr(kTag.size());
    } else if (line.starts_with(kShare)) {
      share_ = std::strtod(std::string(line.substr(kShare.size())).c_str(), nullptr);
    } else if (line == kNoSpace) {
      space_.clear();
    } else if (!line.empty() && !line.starts_with('#') && line != "[topic]") {
      add_topic(line);
    }
  }
  return text;
}

/// Adds a topic of a line such as `old maps = oldmaps`: the words, and the hashtag if it differs
/// from the words.
void Language::add_topic(std::string_view line) {
  constexpr std::string_view kIs = " = ";
  const std::size_t is = line.find(kIs);
  const std::string words(line.substr(0, is));
  topics_.push_back(
      {words, is == std::string_view::npos ? words : std::string(line.substr(is + kIs.size()))});
}

std::string Language::make(Text kind, Random& random, std::size_t topic) const {
  return phrases_.make(sections_[static_cast<std::size_t>(kind)], random, topics_[topic].words);
}

const std::vector<Language>& languages() {
  static const std::vector<Language> all = [] {
    std::vector<Language> found;
    for (const TextFile& file : text_files()) {
      if (file.name != kCommon) found.emplace_back(common_text(), file);
    }
    return found;
  }();
  return all;
}

const Phrases& common_phrases() {
  static const Phrases phrases = [] {
    Phrases made;
    made.add(common_text());
    return made;
  }();
  return phrases;
}

}  // namespace skua::sim
