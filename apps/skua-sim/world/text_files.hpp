#pragma once

#include <string_view>
#include <vector>

namespace skua::sim {

struct TextFile {
  std::string_view name;  // without .txt
  std::string_view text;
};

/// The files of apps/skua-sim/texts, in the order of their names. They live as long as the program.
std::vector<TextFile> text_files();

}  // namespace skua::sim
