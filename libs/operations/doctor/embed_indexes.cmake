# Writes OUTPUT, a C++ file with the text of INDEXES (schema_indexes.sql).
file(READ ${INDEXES} text)
file(WRITE ${OUTPUT} "// Made of schema_indexes.sql by libs/operations/doctor/embed_indexes.cmake.
#include \"doctor/schema.hpp\"

namespace skua::doctor {

std::string_view schema_indexes() { return R\"skua_sql(${text})skua_sql\"; }

}  // namespace skua::doctor
")
