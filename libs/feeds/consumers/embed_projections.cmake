# Writes OUTPUT, a C++ file with the texts of FILES (paths).
set(entries "")
foreach(path IN LISTS FILES)
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} text)
  string(APPEND entries "    {\"${name}\", R\"sql(${text})sql\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made of the files of libs/feeds/consumers/projections by embed_projections.cmake.
#include \"consumers/projections/embedded_projections.hpp\"

namespace skua::consumers {

std::span<const EmbeddedFile> embedded_projections() {
  static constexpr EmbeddedFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace skua::consumers
")
