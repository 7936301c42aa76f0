# Writes OUTPUT, a C++ file with the texts of SCHEMA/: the files that order.txt lists, the migrations, and former_databases.txt.
# In place of the entry `projections` it takes the `-- view` parts of the files of PROJECTIONS/. The functions before the entry
# `migrations` are those that migrations call.
function(add_text list name path)
  file(READ ${path} sql)
  set(${list} "${${list}}    {${name}, R\"skua_sql(${sql})skua_sql\"},\n" PARENT_SCOPE)
endfunction()

# Lines of a text file without comments.
function(read_lines lines path)
  file(STRINGS ${path} found REGEX "^[^#]")
  set(${lines} ${found} PARENT_SCOPE)
endfunction()

# The lines after `-- view` of a projection, up to the empty line behind them.
function(read_view view path)
  file(READ ${path} text)
  string(FIND "${text}" "\n-- view\n" begin)
  if(begin EQUAL -1)
    set(${view} "" PARENT_SCOPE)
    return()
  endif()
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(SUBSTRING "${text}" 9 -1 text)
  string(FIND "${text}" "\n\n" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${view} "${text}" PARENT_SCOPE)
endfunction()

read_lines(listed ${SCHEMA}/order.txt)
file(GLOB_RECURSE present RELATIVE ${SCHEMA} ${SCHEMA}/*.sql)
list(FILTER present EXCLUDE REGEX "^migrations/")
list(APPEND present migrations projections)
list(SORT present)
set(sorted ${listed})
list(SORT sorted)
if(NOT sorted STREQUAL present)
  message(FATAL_ERROR "schema/order.txt must list migrations, projections and each file of tables/, functions/, views/ and rights.sql once")
endif()

set(definition_count 0)
foreach(name IN LISTS listed)
  if(name STREQUAL "migrations")
    set(before_migrations ${definition_count})
    continue()
  endif()
  if(NOT name MATCHES "^tables/")
    math(EXPR definition_count "${definition_count} + 1")
  endif()
  if(name STREQUAL "projections")
    set(views "")
    file(GLOB paths ${PROJECTIONS}/*.sql)
    foreach(path IN LISTS paths)
      read_view(view ${path})
      string(APPEND views "${view}\n")
    endforeach()
    string(APPEND definitions "    {\"${name}\", R\"skua_sql(${views})skua_sql\"},\n")
  elseif(name MATCHES "^tables/")
    add_text(tables "\"${name}\"" ${SCHEMA}/${name})
  else()
    add_text(definitions "\"${name}\"" ${SCHEMA}/${name})
  endif()
endforeach()

file(GLOB paths ${SCHEMA}/migrations/*)
list(SORT paths)
set(baseline_version 0)
foreach(path IN LISTS paths)
  get_filename_component(file_name ${path} NAME)
  if(NOT file_name MATCHES "^0*([1-9][0-9]*)_([a-z0-9_]+)\\.sql$")
    message(FATAL_ERROR "${path}: a migration is called NNNN_name.sql")
  endif()
  set(version ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  if(name STREQUAL "baseline")
    set(baseline_version ${version})
  endif()
  add_text(migrations "${version}, \"${name}\"" ${path})
endforeach()
if(baseline_version EQUAL 0)
  message(FATAL_ERROR "schema/migrations/ needs a file NNNN_baseline.sql")
endif()

read_lines(former ${SCHEMA}/former_databases.txt)
foreach(line IN LISTS former)
  string(REGEX REPLACE "^([0-9]+) ([0-9a-f]+)$" "    {\\1, \"\\2\"},\n" entry "${line}")
  string(APPEND former_entries "${entry}")
endforeach()

file(WRITE ${OUTPUT} "// Made of schema/ by libs/database/postgres/embed_schema.cmake.
#include \"postgres/migrations.hpp\"

namespace skua::postgres {

const Schema& schema() {
  static const Schema kSchema{
      ${baseline_version},
      {
${tables}      },
      {
${migrations}      },
      {
${definitions}      },
      ${before_migrations},
      {
${former_entries}      }};
  return kSchema;
}

}  // namespace skua::postgres
")
