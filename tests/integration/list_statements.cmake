# Writes OUTPUT, a header with all statements of FILES, SQL files below SOURCE.
set(includes "")
set(entries "")
foreach(file IN LISTS FILES)
  string(APPEND includes "#include \"${file}.hpp\"\n")
  file(STRINGS ${SOURCE}/${file} lines REGEX "^-- name: ")
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

inline std::vector<const store::Statement*> all_statements() {
  return {
${entries}  };
}

}  // namespace skua
")
