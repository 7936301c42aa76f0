# Writes OUTPUT, a C++ file with the text of each SCHEMA/NNNN_name.sql in the order of the numbers.
file(GLOB files ${SCHEMA}/*.sql)
list(SORT files)
set(entries "")
foreach(path IN LISTS files)
  get_filename_component(file_name ${path} NAME_WE)
  if(NOT file_name MATCHES "^0*([1-9][0-9]*)_([a-z0-9_]+)$")
    message(FATAL_ERROR "${path}: a migration is called NNNN_name.sql")
  endif()
  set(version ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  file(READ ${path} sql)
  string(APPEND entries "    {${version}, \"${name}\",\n     R\"skua_sql(${sql})skua_sql\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made of schema/*.sql by libs/store/embed_migrations.cmake.
#include \"store/migrations.hpp\"

namespace skua::store {

std::vector<Migration> migrations() {
  return {
${entries}  };
}

}  // namespace skua::store
")
