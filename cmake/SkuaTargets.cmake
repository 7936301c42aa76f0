# One CMake target for each library. Sources are globbed, so that a new collection is a matter of its files.

add_library(skua_options INTERFACE)
target_compile_options(skua_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                              -Wno-sign-conversion)
# GCC 12 reports a copy of a short text as overlapping (GCC bug 105651).
target_compile_options(skua_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# The library for charts is one string literal, longer than the C++ standard requires.
target_compile_options(skua_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-overlength-strings>)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Clang compares the names of a function with those in the anonymous namespace of another file.
  target_compile_options(skua_options INTERFACE -Wno-shadow)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A class of a .cpp may use that file's anonymous namespace; GCC takes the file for a header there.
  target_compile_options(skua_options INTERFACE -Wno-subobject-linkage)
  # Clang names this function otherwise than the library that GCC compiled.
  target_compile_options(skua_options INTERFACE
                         "SHELL:-include ${CMAKE_SOURCE_DIR}/libs/foundation/base/extern_templates.hpp")
endif()
if(SKUA_WERROR)
  target_compile_options(skua_options INTERFACE -Werror)
endif()
if(SKUA_SANITIZE)
  target_compile_options(skua_options INTERFACE -fsanitize=${SKUA_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  # With a sanitizer GCC 12 reports std::function in std::regex as uninitialized, and the memory of a coroutine's frame
  # as that of another allocator. Both are wrong.
  target_compile_options(skua_options INTERFACE
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-mismatched-new-delete>)
  # clang 14 cannot compile coroutines with this check of UndefinedBehaviorSanitizer.
  target_compile_options(skua_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_link_options(skua_options INTERFACE -fsanitize=${SKUA_SANITIZE})
endif()

# With AddressSanitizer and UndefinedBehaviorSanitizer, a compiler takes three times as long for Asio's templates if it optimises them,
# writes each check in place and checks all pointers. Only the libraries that decode bytes have that (skua_checked_decoders); their tests
# have the most to calculate. Linked after skua_options: a compiler heeds the last option.
add_library(skua_checked_decoders INTERFACE)
if(SKUA_SANITIZE MATCHES "address,undefined")
  set(pointers null,alignment,vptr,object-size)
  target_compile_options(skua_options INTERFACE -Og -fno-sanitize=${pointers})
  target_compile_options(skua_checked_decoders INTERFACE -O1 -fsanitize=${pointers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(skua_options INTERFACE "SHELL:--param asan-instrumentation-with-call-threshold=0")
    target_compile_options(skua_checked_decoders INTERFACE "SHELL:--param asan-instrumentation-with-call-threshold=7000")
  endif()
endif()

# For the tests' own files. Linked after skua_options.
add_library(skua_test_options INTERFACE)
target_compile_options(skua_test_options INTERFACE ${SKUA_TEST_FLAGS})

# skua_sql(library folder): embeds the files of statements of the folder into the library, as headers with their names and
# `.hpp`.
function(skua_sql library folder)
  set(wing ${CMAKE_SOURCE_DIR}/libs/${SKUA_WING_${library}})
  file(GLOB_RECURSE candidates CONFIGURE_DEPENDS RELATIVE ${wing} ${folder}/*.sql)
  set(files "")
  foreach(file IN LISTS candidates)
    # The files of projections have fragments, too.
    file(STRINGS ${wing}/${file} names REGEX "^-- (name|fragment): " LIMIT_COUNT 1)
    file(STRINGS ${wing}/${file} folds REGEX "^-- fold" LIMIT_COUNT 1)
    if(names AND NOT folds)
      list(APPEND files ${file})
    endif()
  endforeach()
  if(NOT files)
    return()
  endif()
  set(output ${CMAKE_BINARY_DIR}/sql)
  set(sources ${files})
  list(TRANSFORM sources PREPEND ${wing}/)
  set(headers ${files})
  list(TRANSFORM headers PREPEND ${output}/)
  list(TRANSFORM headers APPEND .hpp)
  add_custom_command(
    OUTPUT ${headers}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${wing} -DOUTPUT=${output} "-DFILES=${files}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_sql.cmake
    DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/cmake/embed_sql.cmake
    COMMENT "Embedding the SQL of ${library}"
    VERBATIM)
  target_sources(skua_${library} PRIVATE ${headers})
  # scripts/tidy makes the headers without a build.
  if(NOT TARGET sql_headers)
    add_custom_target(sql_headers)
  endif()
  add_custom_target(skua_${library}_sql DEPENDS ${headers})
  add_dependencies(skua_${library} skua_${library}_sql)
  add_dependencies(sql_headers skua_${library}_sql)
  target_include_directories(skua_${library} PRIVATE ${output})
  # The test of all statements includes all headers.
  set_property(GLOBAL APPEND PROPERTY SKUA_SQL_FILES ${files})
  set_property(GLOBAL APPEND PROPERTY SKUA_SQL_SOURCES ${sources})
  set_property(GLOBAL APPEND PROPERTY SKUA_SQL_TARGETS skua_${library})
endfunction()

# skua_library(name): the folder of a library as skua::<name>, with the dependencies of its row in libs/README.md. Its
# wing is its include root.
function(skua_library name)
  set(wing ${CMAKE_SOURCE_DIR}/libs/${SKUA_WING_${name}})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${wing}/${name}/*.cpp)
  add_library(skua_${name} STATIC ${sources})
  target_include_directories(skua_${name} PUBLIC ${wing})
  target_link_libraries(skua_${name} PUBLIC ${SKUA_DEPENDS_${name}} ${SKUA_PACKAGES_${name}} Boost::headers fmt::fmt
                                            spdlog::spdlog Threads::Threads
                                     PRIVATE skua_options)
  if(SKUA_WING_${name} STREQUAL "foundation")
    target_link_libraries(skua_${name} PRIVATE skua_checked_decoders)
  endif()
  skua_sql(${name} ${wing}/${name})
  add_library(skua::${name} ALIAS skua_${name})
endfunction()

# skua_test(name LIBS deps... [SOURCES more...] [DEPENDS targets...] [DEFINITIONS ...]): the *_test.cpp files of this
# folder as two programs, and `tests_<name>` for both. test_<name>, with the label `unit`, holds the files that need no
# server; test_<name>_postgres, with the label `postgres`, those that include support/postgres.hpp. The folder's other
# .cpp files and SOURCES support both.
function(skua_test name)
  cmake_parse_arguments(ARG "" "" "LIBS;SOURCES;DEPENDS;DEFINITIONS" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(support ${ARG_SOURCES})
  foreach(file ${files})
    file(STRINGS ${file} needs_server REGEX "^#include \"support/postgres.hpp\"" LIMIT_COUNT 1)
    if(NOT file MATCHES "_test\\.cpp$")
      list(APPEND support ${file})
    elseif(needs_server)
      list(APPEND postgres ${file})
    else()
      list(APPEND unit ${file})
    endif()
  endforeach()
  add_custom_target(tests_${name})
  foreach(label unit postgres)
    if(${label})
      set(test ${name})
      if(label STREQUAL "postgres")
        set(test ${name}_postgres)
      endif()
      add_executable(test_${test} ${${label}} ${support})
      target_include_directories(test_${test} PRIVATE ${CMAKE_SOURCE_DIR}/tests ${SKUA_WINGS})
      target_link_libraries(test_${test} PRIVATE ${ARG_LIBS} skua_options skua_test_options GTest::gmock GTest::gtest_main)
      target_compile_definitions(test_${test} PRIVATE ${ARG_DEFINITIONS})
      add_dependencies(tests_${name} test_${test})
      if(ARG_DEPENDS)
        add_dependencies(test_${test} ${ARG_DEPENDS})
      endif()
      add_test(NAME ${test} COMMAND test_${test} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
      set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 900)
    endif()
  endforeach()
endfunction()
