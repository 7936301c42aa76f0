#include "top/sections.hpp"

#include <algorithm>
#include <array>

namespace skua::top {

Section make_section(std::size_t number, const Snapshot& snapshot, std::size_t width) {
  constexpr std::array kMakers = {problems_section,    sources_section,   workers_section,
                                  collections_section, consumers_section, dead_letters_section,
                                  backfill_section,    database_section,  posts_section};
  static_assert(kMakers.size() == kSections);
  Section section = kMakers.at(number - 1)(snapshot, width);
  for (Line& line : section.lines) line.cut(width);
  return section;
}

}  // namespace skua::top
