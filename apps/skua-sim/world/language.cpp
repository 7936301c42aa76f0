#include "language.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace skua::sim {
namespace {

constexpr std::string_view kCommon = "common";

std::string_view common_text() {
  for (const TextFile& file : text_files()) {
    if (file.name == kCommon) return file.text;
  }
  throw std::logic_error("texts: no file common.txt");
}

}  // namespace

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

/// `old maps = oldmaps`: the words, and the hashtag if it differs.
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
