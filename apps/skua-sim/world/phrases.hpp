#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "random.hpp"

namespace skua::sim {

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

}  // namespace skua::sim
