# Writes OUTPUT, a C++ file with the text of QUERIES (docs/queries.md).
file(READ ${QUERIES} text)
file(WRITE ${OUTPUT} "// Made of docs/queries.md by apps/skua/embed_queries.cmake.
#include \"query_list.hpp\"

namespace skua::cli {

std::string_view queries_document() { return R\"skua_queries(${text})skua_queries\"; }

}  // namespace skua::cli
")
