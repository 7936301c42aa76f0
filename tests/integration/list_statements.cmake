# Writes OUTPUT, a header with all statements of SOURCES, SQL files. FILES are their paths as the sources include them.
set(includes "")
set(entries "")
foreach(file source IN ZIP_LISTS FILES SOURCES)
  string(APPEND includes "#include \"${file}.hpp\"\n")
  file(STRINGS ${source} lines REGEX "^-- name: ")
  foreach(line IN LISTS lines)
    string(REPLACE "-- name: " "" name "${line}")
    string(APPEND entries "      &sql::${name},\n")
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "// Made by tests/integration/list_statements.cmake.
#pragma once

#include <vector>

${includes}
namespace skua {

inline std::vector<const postgres::Statement*> all_statements() {
  return {
${entries}  };
}

}  // namespace skua
")
