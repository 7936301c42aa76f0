# Writes OUTPUT, a C++ file with the text of each DOCUMENTS/NSID.json in the order of the names.
file(GLOB files ${DOCUMENTS}/*.json)
list(SORT files)
set(entries "")
foreach(path IN LISTS files)
  file(READ ${path} text)
  string(APPEND entries "    R\"skua_json(${text})skua_json\",\n")
endforeach()
file(WRITE ${OUTPUT} "// Made of libs/foundation/lexicon/documents/*.json by libs/foundation/lexicon/embed_documents.cmake.
#include \"lexicon/built_in.hpp\"

namespace skua::lexicon {

std::vector<std::string_view> built_in_documents() {
  return {
${entries}  };
}

}  // namespace skua::lexicon
")
