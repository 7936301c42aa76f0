# One CMake target a folder. Sources are globbed, so that adding a collection is adding its files.

add_library(skua_options INTERFACE)
target_compile_options(skua_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                              -Wno-sign-conversion)
# GCC 12 reports a copy of a short text as overlapping (GCC bug 105651).
target_compile_options(skua_options INTERFACE -Wno-restrict)
if(CMAKE_UNITY_BUILD)
  # A class of a .cpp may use that file's anonymous namespace; GCC takes the file for a header there.
  target_compile_options(skua_options INTERFACE -Wno-subobject-linkage)
endif()
if(SKUA_WERROR)
  target_compile_options(skua_options INTERFACE -Werror)
endif()
if(SKUA_SANITIZE)
  target_compile_options(skua_options INTERFACE -fsanitize=${SKUA_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(skua_options INTERFACE -fsanitize=${SKUA_SANITIZE})
endif()

# skua_library(name PUBLIC deps... PRIVATE deps...): libs/<name> as skua::<name>
function(skua_library name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(skua_${name} STATIC ${sources})
    target_include_directories(skua_${name} PUBLIC ${CMAKE_SOURCE_DIR}/libs)
    target_link_libraries(skua_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} skua_options)
  else()
    add_library(skua_${name} INTERFACE)
    target_include_directories(skua_${name} INTERFACE ${CMAKE_SOURCE_DIR}/libs)
    target_link_libraries(skua_${name} INTERFACE ${ARG_PUBLIC} ${ARG_PRIVATE})
  endif()
  add_library(skua::${name} ALIAS skua_${name})
endfunction()

# skua_test(name LIBS deps... [LABELS ...]): every *_test.cpp of this folder as one program test_<name>
function(skua_test name)
  cmake_parse_arguments(ARG "" "" "LIBS;LABELS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(test_${name} PRIVATE ${ARG_LIBS} skua_options GTest::gmock GTest::gtest_main)
  target_compile_options(test_${name} PRIVATE ${SKUA_TEST_FLAGS})
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 900)
endfunction()
