# Writes OUTPUT, a C++ file with the text of each TEXTS/*.txt in the order of the names.
file(GLOB files ${TEXTS}/*.txt)
list(SORT files)
set(entries "")
foreach(path IN LISTS files)
  file(READ ${path} text)
  get_filename_component(name ${path} NAME_WE)
  string(APPEND entries "    {\"${name}\", R\"skua_text(${text})skua_text\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made of apps/skua-sim/texts/*.txt by apps/skua-sim/embed_texts.cmake.
#include \"world/language.hpp\"

namespace skua::sim {

std::vector<TextFile> text_files() {
  return {
${entries}  };
}

}  // namespace skua::sim
")
