# Writes OUTPUT, a C++ file with the text of QUERIES (docs/queries.md), and the texts of all files
# in the folder HELP.
file(READ ${QUERIES} queries)
file(GLOB files ${HELP}/*.txt)
foreach(path ${files})
  file(READ ${path} text)
  string(APPEND help "${text}\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by apps/skua/embed_texts.cmake.
#include \"commands.hpp\"
#include \"query_list.hpp\"

namespace skua::cli {

std::string_view queries_document() { return R\"skua_text(${queries})skua_text\"; }
std::string_view help_document() { return R\"skua_text(${help})skua_text\"; }

}  // namespace skua::cli
")
