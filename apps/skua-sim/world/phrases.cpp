#include "phrases.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace skua::sim {
namespace {

// Numbers of no section, for what a template may contain besides sections.
constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kTopic = kNothing - 1;
constexpr std::size_t kCapitalTopic = kNothing - 2;
constexpr std::size_t kNumber = kNothing - 3;

/// Letters beyond ASCII stay as they are.
void append_capital(std::string& out, std::string_view text) {
  const std::size_t begin = out.size();
  out += text;
  if (begin < out.size() && out[begin] >= 'a' && out[begin] <= 'z') out[begin] += 'A' - 'a';
}

}  // namespace

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

/// A section cannot contain itself, because the names in it are those of earlier sections.
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

}  // namespace skua::sim
